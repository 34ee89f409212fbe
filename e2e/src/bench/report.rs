//! The figures, as a table a person can paste.

use std::fmt;

/// One measured rate beside its denominator.
#[derive(Debug, Clone)]
pub struct Figure {
    /// What was measured.
    pub name: &'static str,
    /// What it is compared with.
    pub against: &'static str,
    /// Requests a second: the median round.
    pub rate: f64,
    /// Requests a second of the denominator: the median round.
    pub denominator: f64,
    /// The ratio the project aims for, where it does.
    pub aim: Option<f64>,
}

impl Figure {
    /// From the rounds of both sides.
    #[must_use]
    pub fn of(
        name: &'static str,
        against: &'static str,
        aim: Option<f64>,
        mut rates: Vec<f64>,
        mut denominators: Vec<f64>,
    ) -> Self {
        Self { name, against, rate: median(&mut rates), denominator: median(&mut denominators), aim }
    }

    /// The measured rate as a share of the denominator.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.rate / self.denominator
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// All figures of a run.
#[derive(Debug, Default)]
pub struct Report {
    figures: Vec<Figure>,
}

impl Report {
    /// Adds figures.
    pub fn extend(&mut self, figures: Vec<Figure>) {
        for figure in figures {
            eprintln!("  {figure}");
            self.figures.push(figure);
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let aim = self.aim.map_or_else(|| "—".to_owned(), |aim| format!("≥ {aim:.1}"));
        write!(
            f,
            "| {} | {:.0}/s | {} | {:.0}/s | **{:.2}** | {aim} |",
            self.name,
            self.rate,
            self.against,
            self.denominator,
            self.ratio()
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| measured | rate | against | rate | ratio | aim |")?;
        writeln!(f, "|---|---:|---|---:|---:|---:|")?;
        self.figures.iter().try_for_each(|figure| writeln!(f, "{figure}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_ratio_of_medians() {
        let figure = Figure::of("a", "b", Some(0.5), vec![100.0, 1.0, 60.0], vec![120.0, 900.0, 1.0]);
        assert!((figure.ratio() - 0.5).abs() < f64::EPSILON);
        assert_eq!(figure.to_string(), "| a | 60/s | b | 120/s | **0.50** | ≥ 0.5 |");
    }
}
