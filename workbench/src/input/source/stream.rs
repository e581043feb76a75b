//! The bytes of a file as they are meant: spooled where they come only once, unpacked, and as UTF-8.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use incrowd::{Error, ErrorKind, Result};
use parquet::file::reader::{ChunkReader, Length};
use sha2::{Digest, Sha256};

use super::options::Encoding;
use crate::input::digest::{Stamp, changed, hex};

/// Where bytes are that can be read as often as needed.
#[derive(Clone, Debug)]
pub(super) struct FilePlace {
    /// What errors and certificates call it.
    pub path: PathBuf,
    n_bytes: u64,
    kept: Kept,
}

#[derive(Clone, Debug)]
enum Kept {
    InFile(Stamp),
    /// A file without a name that nobody else can open: what came through a pipe, or was unpacked to be read anywhere.
    Spooled(Arc<File>),
}

/// What standard input is called on a command line and in a project file.
const STANDARD_INPUT: &str = "-";

impl FilePlace {
    /// A file where it is; standard input (`-`) and named pipes, which come only once, are copied to a file without a name.
    pub fn open(path: &Path) -> Result<FilePlace> {
        let wrong = |error| crate::io_error(path, error);
        if is_standard_input(path) {
            return once(path, || FilePlace::spool(Path::new("standard input"), &mut std::io::stdin().lock()));
        }
        let metadata = std::fs::metadata(path).map_err(wrong)?;
        if !metadata.is_file() && !metadata.is_dir() {
            return once(path, || FilePlace::spool(path, &mut File::open(path).map_err(wrong)?));
        }
        File::open(path).map_err(wrong)?;
        let stamp = Stamp::of(path)?;
        Ok(FilePlace { path: path.to_path_buf(), n_bytes: stamp.n_bytes(), kept: Kept::InFile(stamp) })
    }

    /// Keeps what can be read only once.
    pub fn spool(path: &Path, reader: &mut impl Read) -> Result<FilePlace> {
        let wrong = |error| crate::io_error(path, error);
        let mut file = tempfile::tempfile().map_err(wrong)?;
        let n_bytes = std::io::copy(reader, &mut file).map_err(|error| unpacking_error(path, error))?;
        file.flush().map_err(wrong)?;
        Ok(FilePlace { path: path.to_path_buf(), n_bytes, kept: Kept::Spooled(Arc::new(file)) })
    }

    pub fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// The bytes from the beginning, for one reader.
    pub fn bytes(&self) -> Result<Bytes> {
        let file = match &self.kept {
            Kept::InFile(_) => Arc::new(File::open(&self.path).map_err(|error| crate::io_error(&self.path, error))?),
            Kept::Spooled(file) => file.clone(),
        };
        Ok(Bytes { file, at: 0, n_bytes: self.n_bytes })
    }

    /// Refuses a file that was written to since it was opened.
    pub fn check(&self) -> Result<()> {
        match &self.kept {
            Kept::InFile(stamp) if Stamp::of(&self.path)? != *stamp => Err(changed(&self.path)),
            _ => Ok(()),
        }
    }
}

/// Whether a path means standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == STANDARD_INPUT) && !path.exists()
}

/// What comes only once is kept as long as the program runs: a project opens its data more than once.
fn once(path: &Path, spool: impl FnOnce() -> Result<FilePlace>) -> Result<FilePlace> {
    static KEPT: Mutex<Vec<(PathBuf, FilePlace)>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, place)) = kept.iter().find(|(known, _)| known == path) {
        return Ok(place.clone());
    }
    let place = spool()?;
    kept.push((path.to_path_buf(), place.clone()));
    Ok(place)
}

/// Reads a file from a place of its own, whoever else reads it.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    file: Arc<File>,
    at: u64,
    n_bytes: u64,
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        #[cfg(unix)]
        let n = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.at)?;
        #[cfg(windows)]
        let n = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for Bytes {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let from = |start: u64, by: i64| start.checked_add_signed(by);
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => from(self.n_bytes, by),
            SeekFrom::Current(by) => from(self.at, by),
        };
        self.at = at.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

impl Length for Bytes {
    fn len(&self) -> u64 {
        self.n_bytes
    }
}

impl ChunkReader for Bytes {
    type T = BufReader<Bytes>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<BufReader<Bytes>> {
        Ok(BufReader::new(Bytes { at: start, ..self.clone() }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        let mut buffer = Vec::with_capacity(length);
        let n = Bytes { at: start, ..self.clone() }.take(length as u64).read_to_end(&mut buffer)?;
        match n == length {
            true => Ok(buffer.into()),
            false => Err(parquet::errors::ParquetError::EOF(format!("expected {length} bytes, there are {n}"))),
        }
    }
}

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Gzip,
    Zstd,
}

/// A file being read from its beginning to its end: what comes out is unpacked and UTF-8, what is hashed is the file.
pub(super) struct Stream {
    reader: Box<dyn Read + Send>,
    tap: Arc<Mutex<Tap>>,
}

/// The bytes of the file as they are, hashed on their way where somebody wants that.
struct Tap {
    bytes: Bytes,
    hasher: Option<Sha256>,
    n_read: u64,
}

struct Tapped(Arc<Mutex<Tap>>);

impl Read for Tapped {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut tap = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let n = tap.bytes.read(buffer)?;
        if let Some(hasher) = &mut tap.hasher {
            hasher.update(&buffer[..n]);
        }
        tap.n_read += n as u64;
        Ok(n)
    }
}

impl Stream {
    pub fn open(place: &FilePlace, packing: Packing, encoding: Encoding) -> Result<Stream> {
        let unpacked = Stream::unpacked(place, packing)?;
        let reader = match encoding {
            Encoding::Utf8 => Box::new(WithoutMark { inner: unpacked.reader, is_start: true }) as Box<dyn Read + Send>,
            other => Box::new(Decoded::new(unpacked.reader, other)),
        };
        Ok(Stream { reader, tap: unpacked.tap })
    }

    /// The bytes as they were before they were packed.
    pub fn unpacked(place: &FilePlace, packing: Packing) -> Result<Stream> {
        let tap = Arc::new(Mutex::new(Tap { bytes: place.bytes()?, hasher: None, n_read: 0 }));
        let tapped = Tapped(tap.clone());
        let buffered = |tapped: Tapped| BufReader::with_capacity(1 << 18, tapped);
        let reader: Box<dyn Read + Send> = match packing {
            Packing::Plain => Box::new(tapped),
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(tapped))),
            Packing::Zstd => {
                let decoder = zstd::stream::read::Decoder::with_buffer(buffered(tapped));
                Box::new(decoder.map_err(|error| crate::io_error(&place.path, error))?)
            }
        };
        Ok(Stream { reader, tap })
    }

    /// The same with a hash of the file, taken while it is read.
    pub fn hashed(self) -> Stream {
        self.tap.lock().unwrap_or_else(PoisonError::into_inner).hasher = Some(Sha256::new());
        self
    }

    /// How many bytes of the file have been read.
    pub fn n_read(&self) -> u64 {
        self.tap.lock().unwrap_or_else(PoisonError::into_inner).n_read
    }

    /// The hash of the whole file, where it is taken.
    pub fn sha256(&self) -> std::io::Result<Option<String>> {
        let is_taken = |tap: &Mutex<Tap>| tap.lock().unwrap_or_else(PoisonError::into_inner).hasher.is_some();
        if !is_taken(&self.tap) {
            return Ok(None);
        }
        std::io::copy(&mut Tapped(self.tap.clone()), &mut std::io::sink())?;
        let tap = self.tap.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(tap.hasher.clone().map(|hasher| hex(&hasher.finalize())))
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.reader.read(buffer)
    }
}

/// What went wrong while a file was unpacked or decoded.
pub(super) fn unpacking_error(path: &Path, error: std::io::Error) -> Error {
    use std::io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    match error.kind() {
        InvalidData | InvalidInput | UnexpectedEof | Other if error.raw_os_error().is_none() => {
            Error::new(ErrorKind::Data, format!("cannot be unpacked: {error}"))
                .at(path.display().to_string())
                .hint("the file may be damaged or cut off")
        }
        _ => crate::io_error(path, error),
    }
}

/// Passes bytes on without the mark that some programs write before UTF-8.
struct WithoutMark<R> {
    inner: R,
    is_start: bool,
}

impl<R: Read> Read for WithoutMark<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if !self.is_start || buffer.len() < 3 {
            return self.inner.read(buffer);
        }
        self.is_start = false;
        let mut n = 0;
        while n < 3 {
            match self.inner.read(&mut buffer[n..])? {
                0 => break,
                more => n += more,
            }
        }
        match buffer[..n].starts_with(b"\xef\xbb\xbf") {
            true if n == 3 => self.inner.read(buffer),
            true => {
                buffer.copy_within(3..n, 0);
                Ok(n - 3)
            }
            false => Ok(n),
        }
    }
}

/// Turns the characters of another encoding into UTF-8, and refuses what is none in it.
struct Decoded<R> {
    inner: R,
    encoding: Encoding,
    decoder: encoding_rs::Decoder,
    raw: Vec<u8>,
    raw_at: usize,
    text: Vec<u8>,
    text_at: usize,
    is_last: bool,
    is_done: bool,
}

impl<R: Read> Decoded<R> {
    fn new(inner: R, encoding: Encoding) -> Decoded<R> {
        Decoded {
            inner,
            encoding,
            decoder: encoding.known().new_decoder_with_bom_removal(),
            raw: Vec::new(),
            raw_at: 0,
            text: Vec::new(),
            text_at: 0,
            is_last: false,
            is_done: false,
        }
    }

    fn refill(&mut self) -> std::io::Result<()> {
        use encoding_rs::DecoderResult::{InputEmpty, Malformed, OutputFull};
        if self.raw_at == self.raw.len() && !self.is_last {
            self.raw.resize(1 << 17, 0);
            let n = self.inner.read(&mut self.raw)?;
            self.raw.truncate(n);
            (self.raw_at, self.is_last) = (0, n == 0);
        }
        self.text.resize(1 << 19, 0);
        let raw = &self.raw[self.raw_at..];
        let (result, n_raw, n_text) =
            self.decoder.decode_to_utf8_without_replacement(raw, &mut self.text, self.is_last);
        self.raw_at += n_raw;
        self.text.truncate(n_text);
        self.text_at = 0;
        match result {
            InputEmpty => self.is_done = self.is_last,
            OutputFull => {}
            Malformed(..) => {
                let message = format!("it is not {} throughout", self.encoding.name());
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, message));
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.text_at == self.text.len() && !self.is_done {
            self.refill()?;
        }
        let n = buffer.len().min(self.text.len() - self.text_at);
        buffer[..n].copy_from_slice(&self.text[self.text_at..self.text_at + n]);
        self.text_at += n;
        Ok(n)
    }
}
