//! How long work looks to a person: bars with sizes and times on a terminal, a few plain lines elsewhere, on stderr.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{Progress, Step, Unit};

/// Plain output tells about a step that is under way at most this often.
const PLAIN_INTERVAL: Duration = Duration::from_secs(5);
/// How often a spinner turns.
const TICK: Duration = Duration::from_millis(100);

/// What is being drawn; cheap to clone.
#[derive(Clone)]
pub struct Display(Arc<Mutex<Style>>);

enum Style {
    Silent,
    Plain(Plain),
    Bars(Bars),
}

impl Display {
    pub fn new(quiet: bool, terminal: bool) -> Self {
        let style = match (quiet, terminal) {
            (true, _) => Style::Silent,
            (false, true) => Style::Bars(Bars::new(ProgressDrawTarget::stderr())),
            (false, false) => Style::Plain(Plain::default()),
        };
        Self(Arc::new(Mutex::new(style)))
    }

    /// The sink to give to the core.
    pub fn progress(&self) -> Progress {
        let display = self.clone();
        Progress::new(move |step| display.show(step))
    }

    /// Forgets unfinished steps and takes them off the screen, before anything else is written there.
    pub fn clear(&self) {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Style::Silent => {}
            Style::Plain(plain) => plain.clear(),
            Style::Bars(bars) => bars.clear(),
        }
    }

    fn show(&self, step: Step<'_>) {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Style::Silent => {}
            Style::Plain(plain) => {
                if let Some(line) = plain.line(step, Instant::now()) {
                    // A closed stderr is no reason to stop the work.
                    let _ = writeln!(std::io::stderr(), "{line}");
                }
            }
            Style::Bars(bars) => bars.step(step, Instant::now()),
        }
    }
}

/// A step that has begun and not ended.
struct Open {
    what: String,
    total: Option<u64>,
    unit: Unit,
    done: u64,
    since: Instant,
    /// When it was told last how far it is, and how far that was.
    told: (Instant, u64),
}

impl Open {
    fn new(what: &str, total: Option<u64>, unit: Unit, now: Instant) -> Self {
        Self { what: what.into(), total, unit, done: 0, since: now, told: (now, 0) }
    }

    fn amount(&self, count: u64) -> String {
        amount(count, self.unit)
    }

    /// As `fetching x: 50.0 MB of 98.0 MB, 8.0 MB/s, 6 s left`: the speed is that since it was told last.
    fn standing(&mut self, now: Instant) -> String {
        let (then, before) = std::mem::replace(&mut self.told, (now, self.done));
        let standing = format!("{}: {}", self.what, self.amount(self.done));
        let Some(total) = self.total else { return standing };
        let standing = format!("{standing} of {}", self.amount(total));
        let a_second = self.done.saturating_sub(before) as f64 / now.duration_since(then).as_secs_f64();
        if self.unit != Unit::Bytes || a_second < 1.0 {
            return standing;
        }
        let left = total.saturating_sub(self.done) as f64 / a_second;
        format!("{standing}, {}/s, {} left", size(a_second as u64), time(left))
    }

    /// As `fetching x: 98.0 MB in 12.3 s`.
    fn summary(&self, now: Instant) -> String {
        let seconds = now.duration_since(self.since).as_secs_f64();
        match self.total.or(Some(self.done).filter(|&done| done > 0)) {
            Some(count) => format!("{}: {} in {seconds:.1} s", self.what, self.amount(count)),
            None => format!("{}: done in {seconds:.1} s", self.what),
        }
    }
}

/// One line a beginning, one an end, and now and then one between.
#[derive(Default)]
struct Plain(Vec<Open>);

impl Plain {
    fn clear(&mut self) {
        self.0.clear();
    }

    fn line(&mut self, step: Step<'_>, now: Instant) -> Option<String> {
        match step {
            Step::Begin { what, total, unit } => {
                self.0.push(Open::new(what, total, unit, now));
                Some(match total {
                    Some(count) => format!("{what} ({})…", amount(count, unit)),
                    None => format!("{what}…"),
                })
            }
            Step::Advance { done } => {
                let open = self.0.last_mut()?;
                open.done = done;
                (now.duration_since(open.told.0) >= PLAIN_INTERVAL).then(|| open.standing(now))
            }
            Step::Note { text } => Some(text.into()),
            Step::End => self.0.pop().map(|open| open.summary(now)),
        }
    }
}

/// Bars below each other, the innermost step last; a finished one leaves its summary.
struct Bars {
    screen: MultiProgress,
    open: Vec<(Open, ProgressBar)>,
}

impl Bars {
    fn new(target: ProgressDrawTarget) -> Self {
        Self { screen: MultiProgress::with_draw_target(target), open: Vec::new() }
    }

    fn step(&mut self, step: Step<'_>, now: Instant) {
        match step {
            Step::Begin { what, total, unit } => {
                let bar = self.screen.add(match total {
                    Some(count) => ProgressBar::new(count).with_style(style(match unit {
                        Unit::Bytes => BYTES,
                        Unit::Functions => FUNCTIONS,
                    })),
                    None => ProgressBar::new_spinner().with_style(style(SPINNER)),
                });
                bar.set_message(what.to_owned());
                bar.enable_steady_tick(TICK);
                self.open.push((Open::new(what, total, unit, now), bar));
            }
            Step::Advance { done } => {
                if let Some((open, bar)) = self.open.last_mut() {
                    open.done = done;
                    bar.set_position(done);
                }
            }
            Step::Note { text } => self.say(text),
            Step::End => {
                if let Some((open, bar)) = self.open.pop() {
                    bar.finish_and_clear();
                    self.say(&open.summary(now));
                }
            }
        }
    }

    fn say(&self, line: &str) {
        // A closed stderr is no reason to stop the work.
        let _ = self.screen.println(line);
    }

    fn clear(&mut self) {
        for (_, bar) in self.open.drain(..) {
            bar.finish_and_clear();
        }
    }
}

const BYTES: &str = "{msg} {bar:24} {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left";
const FUNCTIONS: &str = "{msg} {bar:24} {percent}% {elapsed}";
const SPINNER: &str = "{spinner} {msg} {elapsed}";

fn style(template: &str) -> ProgressStyle {
    // The templates are constants of this file; a test builds each.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// Bytes for people, in powers of ten as shops and download pages count them.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

/// Seconds for people.
fn time(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h", seconds.div_ceil(3600)),
    }
}

fn amount(count: u64, unit: Unit) -> String {
    match unit {
        Unit::Bytes => size(count),
        Unit::Functions => format!("{count} functions"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(what: &str, total: Option<u64>) -> Step<'_> {
        Step::Begin { what, total, unit: Unit::Bytes }
    }

    #[test]
    fn plain_lines_tell_the_beginning_the_end_and_little_between() {
        let (mut plain, start) = (Plain::default(), Instant::now());
        let mut at = |seconds: u64, step| plain.line(step, start + Duration::from_secs(seconds));
        let fetch = begin("fetching the wheel", Some(98_000_000));
        assert_eq!(at(0, fetch).as_deref(), Some("fetching the wheel (98.0 MB)…"));
        assert_eq!(at(1, Step::Advance { done: 10_000_000 }), None);
        assert_eq!(
            at(5, Step::Advance { done: 50_000_000 }).as_deref(),
            Some("fetching the wheel: 50.0 MB of 98.0 MB, 10.0 MB/s, 5 s left")
        );
        assert_eq!(at(6, Step::Advance { done: 60_000_000 }), None, "one line in five seconds");
        assert_eq!(at(7, Step::Note { text: "waiting" }).as_deref(), Some("waiting"));
        let slower = at(10, Step::Advance { done: 51_000_000 });
        assert_eq!(slower.as_deref(), Some("fetching the wheel: 51.0 MB of 98.0 MB, 200.0 kB/s, 4 min left"));
        let stalled = at(15, Step::Advance { done: 51_000_000 });
        assert_eq!(stalled.as_deref(), Some("fetching the wheel: 51.0 MB of 98.0 MB"));
        assert_eq!(at(16, Step::End).as_deref(), Some("fetching the wheel: 98.0 MB in 16.0 s"));
        assert_eq!(at(16, Step::End), None, "nothing is open");
    }

    #[test]
    fn an_inner_step_ends_before_the_outer_one() {
        let (mut plain, now) = (Plain::default(), Instant::now());
        plain.line(begin("outer", None), now);
        plain.line(begin("inner", None), now);
        assert_eq!(plain.line(Step::End, now).as_deref(), Some("inner: done in 0.0 s"));
        assert_eq!(plain.line(Step::End, now).as_deref(), Some("outer: done in 0.0 s"));
    }

    #[test]
    fn what_was_cut_short_is_forgotten() {
        let (mut plain, now) = (Plain::default(), Instant::now());
        plain.line(begin("cut short", None), now);
        plain.clear();
        plain.line(begin("the next", None), now);
        assert_eq!(plain.line(Step::End, now).as_deref(), Some("the next: done in 0.0 s"));
        assert_eq!(plain.line(Step::End, now), None);
    }

    #[test]
    fn bars_open_and_close_with_the_steps() {
        let (mut bars, now) = (Bars::new(ProgressDrawTarget::hidden()), Instant::now());
        bars.step(begin("outer", None), now);
        bars.step(begin("inner", Some(10)), now);
        bars.step(Step::Advance { done: 4 }, now);
        assert_eq!(bars.open[1].1.position(), 4);
        bars.step(Step::End, now);
        assert_eq!(bars.open.len(), 1);
        bars.clear();
        assert!(bars.open.is_empty());
        for template in [BYTES, FUNCTIONS, SPINNER] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }

    #[test]
    fn functions_are_counted_as_such() {
        let (mut plain, now) = (Plain::default(), Instant::now());
        let compiling = Step::Begin { what: "compiling", total: Some(89_060), unit: Unit::Functions };
        assert_eq!(plain.line(compiling, now).as_deref(), Some("compiling (89060 functions)…"));
        assert_eq!(plain.line(Step::End, now).as_deref(), Some("compiling: 89060 functions in 0.0 s"));
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!(size(999), "999 B");
        assert_eq!(size(157_400_000), "157.4 MB");
        assert_eq!(size(2_500_000_000), "2.50 GB");
    }
}
