// SPDX-License-Identifier: GPL-2.0
//! The picture: panels in three columns.

use crate::record::{Figures, Record};
use anyhow::{anyhow, ensure, Result};
use plotters::coord::Shift;
use plotters::prelude::*;

const COLUMNS: usize = 3;
/// Of a panel, in pixels.
const WIDTH: u32 = 300;
const HEIGHT: u32 = 130;
const OURS: RGBColor = RGBColor(0x1f, 0x5f, 0xa8);
const UPSTREAM: RGBColor = RGBColor(0x88, 0x88, 0x88);

/// Returns an SVG with a panel for each figure of the last record, but for those that wait for the GPU: these depend on
/// when the model answers.
///
/// # Errors
/// There is no record, or none of its figures is drawn.
pub fn plot(records: &[Record], upstream: &Figures) -> Result<String> {
    let last = records.last().ok_or_else(|| anyhow!("no record"))?;
    let names: Vec<_> = last
        .figures
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| !name.ends_with("-waited"))
        .collect();
    ensure!(!names.is_empty(), "the last record has no figure");
    let rows = names.len().div_ceil(COLUMNS);
    let mut image = String::new();
    {
        let size = (WIDTH * COLUMNS as u32, HEIGHT * rows as u32);
        let area = SVGBackend::with_string(&mut image, size).into_drawing_area();
        area.fill(&WHITE)?;
        for (panel, name) in area.split_evenly((rows, COLUMNS)).iter().zip(names) {
            draw(panel, name, &series(records, name), find(upstream, name))?;
        }
        area.present()?;
    }
    Ok(format!(
        "<!-- SPDX-License-Identifier: GPL-2.0 -->\n{image}"
    ))
}

fn find(figures: &Figures, name: &str) -> Option<u64> {
    figures
        .iter()
        .find(|(other, _)| other == name)
        .map(|(_, least)| *least)
}

/// Number of a record, and what it says; records without the figure are left out.
fn series(records: &[Record], name: &str) -> Vec<(f64, f64)> {
    records
        .iter()
        .enumerate()
        .filter_map(|(at, record)| Some((at as f64, find(&record.figures, name)? as f64)))
        .collect()
}

fn draw(
    panel: &DrawingArea<SVGBackend<'_>, Shift>,
    name: &str,
    ours: &[(f64, f64)],
    upstream: Option<u64>,
) -> Result<()> {
    let last = ours.last().map_or(0.0, |(_, least)| *least);
    let beside = upstream.map_or(String::new(), |least| {
        format!(" ({:.2} of upstream)", last / least as f64)
    });
    let most = ours
        .iter()
        .map(|(_, least)| *least)
        .chain(upstream.map(|least| least as f64))
        .fold(1.0, f64::max);
    let end = ours.last().map_or(0.0, |(at, _)| *at).max(1.0);
    let mut chart = ChartBuilder::on(panel)
        .margin(6)
        .margin_right(14)
        .caption(
            format!("{name}: {last:.0}{beside}"),
            ("sans-serif", 12).into_font(),
        )
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..end, 0.0..most * 1.1)?;
    chart
        .configure_mesh()
        .disable_x_axis()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.08))
        .y_labels(4)
        .y_label_formatter(&|value| thousands(*value as u64))
        .label_style(("sans-serif", 10).into_font())
        .draw()?;
    if let Some(least) = upstream {
        let line = [(0.0, least as f64), (end, least as f64)];
        chart.draw_series(DashedLineSeries::new(line, 5, 4, UPSTREAM.into()))?;
    }
    chart.draw_series(LineSeries::new(ours.iter().copied(), OURS.stroke_width(2)))?;
    chart.draw_series(ours.iter().map(|at| Circle::new(*at, 2, OURS.filled())))?;
    Ok(())
}

/// A number as people write it.
fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(commit: &str, figures: &[(&str, u64)]) -> Record {
        Record {
            commit: commit.into(),
            date: "2026-11-25".into(),
            figures: figures.iter().map(|(n, l)| ((*n).into(), *l)).collect(),
        }
    }

    #[test]
    fn numbers_have_groups_of_three_digits() {
        for (value, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1316439, "1,316,439"),
        ] {
            assert_eq!(thousands(value), text);
        }
    }

    #[test]
    fn each_figure_of_the_last_record_has_a_panel() {
        let records = [
            record("a", &[("empty-bcs", 12000), ("gone", 5)]),
            record(
                "b",
                &[("empty-bcs", 9000), ("empty-bcs-waited", 9), ("new", 7)],
            ),
        ];
        let image = plot(&records, &vec![("empty-bcs".into(), 6000)]).unwrap();
        assert!(
            image.contains("empty-bcs: 9000 (1.50 of upstream)"),
            "{image}"
        );
        assert!(image.contains("new: 7"), "{image}");
        assert!(
            !image.contains("gone") && !image.contains("waited"),
            "{image}"
        );
        // two points of the one and one of the other
        assert_eq!(image.matches("<circle").count(), 3);
    }

    #[test]
    fn without_a_record_there_is_no_picture() {
        assert!(plot(&[], &Figures::new()).is_err());
        let waited = record("a", &[("empty-bcs-waited", 9)]);
        assert!(plot(&[waited], &Figures::new()).is_err());
    }
}
