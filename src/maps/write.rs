//! Writing a map of schema 2.

use std::io::{self, Write};

use super::Map;
use super::lines::ranges;
use super::map::TestNo;

impl Map {
    /// Writes the map as one JSON document of schema 2: keys and ids in order, so that equal maps have equal bytes.
    pub fn write_json(&self, mut out: impl Write) -> io::Result<()> {
        let text = |value: &str| serde_json::to_string(value).expect("a string can always be printed");
        write!(out, "{{\"schema\":2")?;
        for (key, value) in [("base_sha", &self.about.base_sha), ("tool", &self.about.tool), ("root", &self.about.root)]
        {
            if let Some(value) = value {
                write!(out, ",\n\"{key}\":{}", text(value))?;
            }
        }
        write!(out, ",\n\"partial\":{},\n\"collected\":[", self.about.partial)?;
        let mut order: Vec<TestNo> = (0..).zip(&self.tests).map(|(number, _)| number).collect();
        order.sort_unstable_by(|a, b| self.tests[*a as usize].cmp(&self.tests[*b as usize]));
        let mut rank = vec![0; order.len()];
        for (place, test) in (0..).zip(&order) {
            rank[*test as usize] = place;
        }
        let mut comma = "\n";
        for test in &order {
            write!(out, "{comma}{}", text(&self.tests[*test as usize]))?;
            comma = ",\n";
        }
        write!(out, "],\n\"tests\":{{")?;
        let mut files: Vec<usize> = (0..self.files.len()).collect();
        files.sort_unstable_by(|a, b| self.files[*a].path.cmp(&self.files[*b].path));
        // Test, file, set; a test that ran in several phases stands several times.
        let mut cells: Vec<(TestNo, usize, u32)> = Vec::new();
        for (place, file) in files.iter().enumerate() {
            let of_file = self.files[*file].cells.iter();
            cells.extend(of_file.map(|(test, set)| (rank[*test as usize], place, *set)));
        }
        cells.sort_unstable();
        let mut comma = "\n";
        for of_test in cells.chunk_by(|a, b| a.0 == b.0) {
            write!(out, "{comma}{}:{{", text(&self.tests[order[of_test[0].0 as usize] as usize]))?;
            comma = ",\n";
            let mut comma = "";
            for of_file in of_test.chunk_by(|a, b| a.1 == b.1) {
                let file = &self.files[files[of_file[0].1]];
                let mut lines = roaring::RoaringBitmap::new();
                for (_, _, set) in of_file {
                    lines |= file.lines_of(*set);
                }
                write!(out, "{comma}{}:\"{}\"", text(&file.path), ranges(&lines))?;
                comma = ",";
            }
            write!(out, "}}")?;
        }
        write!(out, "}}")?;
        for key in ["import", "executable"] {
            write!(out, ",\n\"{key}\":{{")?;
            let mut comma = "\n";
            for file in files.iter().map(|at| &self.files[*at]) {
                let import = Some(&file.import).filter(|lines| !lines.is_empty());
                let lines = if key == "import" { import } else { file.executable.as_ref() };
                if let Some(lines) = lines {
                    write!(out, "{comma}{}:\"{}\"", text(&file.path), ranges(lines))?;
                    comma = ",\n";
                }
            }
            write!(out, "}}")?;
        }
        writeln!(out, "}}")?;
        out.flush()
    }
}
