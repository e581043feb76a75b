//! Who is connected: how long a connection may take no bytes, and who makes room when all places are taken.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Sleep;

/// Connections at once.
const N_CONNECTIONS_MAX: usize = 256;

/// Connections at once from one address that is not this machine: nobody alone takes all places.
const N_PER_ADDRESS_MAX: usize = 64;

/// Who takes no byte of an answer for this long does not want it.
const WRITE_TIME: Duration = Duration::from_secs(20);

/// One connection's place among all.
#[derive(Default)]
pub struct Seat {
    /// When bytes last went in either direction, in milliseconds since the server began.
    last: AtomicU64,
    /// Whether its question has come whole and is being answered: that has a time limit of its own.
    is_working: AtomicBool,
    given_up: Notify,
    /// From where, unless that is this machine.
    from: Option<IpAddr>,
}

impl Seat {
    pub fn works(&self, is_working: bool) {
        self.is_working.store(is_working, Ordering::Relaxed);
        self.moved();
    }

    /// Waits until somebody else needs the place.
    pub async fn given_up(&self) {
        self.given_up.notified().await;
    }

    fn moved(&self) {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        self.last.store(START.elapsed().as_millis() as u64, Ordering::Relaxed);
    }
}

/// All places that are taken.
#[derive(Default)]
pub struct Seats(Mutex<Vec<Arc<Seat>>>);

impl Seats {
    /// A place for a newcomer. Where there is none left, who has been silent the longest gives up theirs; where the
    /// newcomer's address has its share, who has been silent the longest of that address. Nobody gets one while all of
    /// those are being answered.
    pub fn enter(&self, from: IpAddr) -> Option<Arc<Seat>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let from = Some(from).filter(|from| !from.is_loopback());
        let has_its_share = from.is_some() && all.iter().filter(|seat| seat.from == from).count() >= N_PER_ADDRESS_MAX;
        if has_its_share || all.len() >= N_CONNECTIONS_MAX {
            let is_asked = |seat: &Seat| !has_its_share || seat.from == from;
            let silent = (0..all.len()).filter(|&i| is_asked(&all[i]) && !all[i].is_working.load(Ordering::Relaxed));
            let longest = silent.min_by_key(|&i| all[i].last.load(Ordering::Relaxed))?;
            all.swap_remove(longest).given_up.notify_one();
        }
        let place = Arc::new(Seat { from, ..Seat::default() });
        place.moved();
        all.push(place.clone());
        Some(place)
    }

    /// Waits until nobody is being answered.
    pub async fn drained(&self) {
        let is_working = || {
            let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.iter().any(|seat| seat.is_working.load(Ordering::Relaxed))
        };
        while is_working() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub fn leave(&self, place: &Arc<Seat>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| !Arc::ptr_eq(known, place));
    }
}

/// A connection that says when bytes move, and ends when an answer is not taken.
pub struct Watched {
    stream: TcpStream,
    place: Arc<Seat>,
    /// Runs while bytes wait to be taken.
    patience: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    pub fn new(stream: TcpStream, place: Arc<Seat>) -> Watched {
        Watched { stream, place, patience: None }
    }

    fn written(&mut self, polled: Poll<io::Result<usize>>, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if polled.is_ready() {
            self.patience = None;
            self.place.moved();
            return polled;
        }
        let patience = self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(WRITE_TIME)));
        match patience.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let n_before = into.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, into);
        if into.filled().len() > n_before {
            self.place.moved();
        }
        polled
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(polled, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.written(polled, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn who_is_being_answered_is_waited_for_and_nobody_else() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let seats = Arc::new(Seats::default());
            let (answered, _silent) = (seats.enter(HERE).expect("room"), seats.enter(HERE).expect("room"));
            answered.works(true);
            let short = Duration::from_millis(50);
            assert!(tokio::time::timeout(short, seats.drained()).await.is_err());
            let (waiting, started) = (seats.clone(), std::time::Instant::now());
            let drained = tokio::spawn(async move { waiting.drained().await });
            tokio::time::sleep(short).await;
            answered.works(false);
            drained.await.expect("it ends");
            assert!(started.elapsed() >= short);
        });
    }

    #[test]
    fn no_address_takes_all_places() {
        let places = Seats::default();
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let all: Vec<_> = (0..N_PER_ADDRESS_MAX).map(|_| places.enter(one).expect("there is room")).collect();
        let (others, here) = (places.enter(other).expect("there is room"), places.enter(HERE).expect("there is room"));
        let n_of_one = || places.0.lock().expect("nobody panics").iter().filter(|seat| seat.from == Some(one)).count();
        // Somebody of the same address makes room, and nobody else.
        all.iter().skip(1).for_each(|place| place.works(true));
        others.last.store(0, Ordering::Relaxed);
        let next = places.enter(one).expect("one of them is silent");
        assert!(
            is_given_up(&all[0]) && !is_given_up(&others) && !is_given_up(&here) && n_of_one() == N_PER_ADDRESS_MAX
        );
        next.works(true);
        assert!(places.enter(one).is_none() && places.enter(other).is_some());
        places.leave(&all[1]);
        assert!(places.enter(one).is_some());
    }

    fn is_given_up(place: &Arc<Seat>) -> bool {
        use futures_util::FutureExt;
        place.given_up().now_or_never().is_some()
    }

    #[test]
    fn the_longest_silent_makes_room_and_who_is_answered_never_does() {
        let places = Seats::default();
        let all: Vec<Arc<Seat>> = (0..N_CONNECTIONS_MAX).map(|_| places.enter(HERE).expect("there is room")).collect();
        all.iter().enumerate().for_each(|(i, place)| place.last.store(10 + i as u64, Ordering::Relaxed));
        all[0].is_working.store(true, Ordering::Relaxed);
        all[5].last.store(3, Ordering::Relaxed);
        let newcomer = places.enter(HERE).expect("somebody makes room");
        let gone: Vec<usize> = (0..all.len()).filter(|&i| is_given_up(&all[i])).collect();
        assert_eq!(gone, [5]);
        places.leave(&newcomer);
        let next = places.enter(HERE).expect("there is room");
        assert!(all.iter().all(|place| !is_given_up(place)));
        // Nobody is interrupted.
        all.iter().chain([&next]).for_each(|place| place.works(true));
        assert!(places.enter(HERE).is_none());
        all[7].works(false);
        assert!(places.enter(HERE).is_some() && is_given_up(&all[7]));
    }
}
