use incrowd::recode::deal::{self, Arrange};
use incrowd::recode::partition::{CellStyle, Watch};
use incrowd::judge::judge;
use incrowd::{Distance, Yardstick};
use incrowd_workbench::count::{Choice, count};
use incrowd_workbench::project::Project;
use incrowd_workbench::talk::Talk;
fn main() {
    let project = Project::open(std::path::Path::new(&std::env::args().nth(1).unwrap())).unwrap();
    let talk = Talk { is_json: false, is_quiet: true };
    let c = count(&project, &Choice::default(), &talk).unwrap();
    let (counts, h, w) = (&c.counts, &c.hierarchies, &c.weights());
    let y = Yardstick::new(counts, &[(Distance::Equal, None)], []).unwrap();
    for k in [5, 10, 20] {
        for arrange in [Arrange::Plain, Arrange::Near { n_tries: 0 }, Arrange::Near { n_tries: 30 }, Arrange::Near { n_tries: 300 }] {
            let t = std::time::Instant::now();
            let p = deal::partition(counts, h, w, k, arrange, 1, &Watch::default()).unwrap();
            let s = t.elapsed().as_secs_f64();
            let r = p.recode(counts, h, CellStyle::Ranges);
            let j = judge(counts, h, w, &y, &r).unwrap();
            println!("k {k} {arrange:?} ncp {:.4} groups {} {s:.2} s", j.ncp, j.n_groups);
        }
    }
}
