package io.varve.jmh;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.varve.jmh.Results.Measure;
import io.varve.jmh.Results.Subject;

/** A comparison of two runs of the microbenchmarks. Immutable. */
final class Comparison {
    private static final List<String> HEADS = List.of("benchmark", "parameters", "A", "error", "B", "error", "unit",
            "B/A",
            "B is");
    private static final int TEXT_COLUMNS = 2;

    /** The result of a comparison of B with A. */
    enum Verdict {
        BETTER("better"), WORSE("worse"),
        /** The error intervals overlap. */
        WITHIN_ERRORS("within the errors"),
        /** One of them has too few iterations for an error. */
        UNKNOWN("? (no error known)"), OTHER_UNIT("? (other unit)");

        private final String text;

        Verdict(String text) {
            this.text = text;
        }

        static Verdict of(Subject subject, Measure a, Measure b) {
            if (!a.unit().equals(b.unit())) {
                return OTHER_UNIT;
            }
            double distance = Math.abs(a.score() - b.score());
            double errors = a.error() + b.error();
            if (Double.isNaN(errors)) {
                return distance == 0 ? WITHIN_ERRORS : UNKNOWN;
            }
            if (distance <= errors) {
                return WITHIN_ERRORS;
            }
            return b.score() > a.score() == subject.moreIsBetter() ? BETTER : WORSE;
        }
    }

    private record Row(Subject subject, Measure a, Measure b) {
        List<String> cells() {
            String ratio = a.score() == 0 || !a.unit().equals(b.unit())
                    ? "-"
                    : String.format(Locale.ROOT, "%.3f", b.score() / a.score());
            return List.of(subject.benchmark(), subject.parameters(), number(a.score()), error(a), number(b.score()),
                    error(b), a.unit(), ratio, Verdict.of(subject, a, b).text);
        }

        private static String error(Measure measure) {
            return Double.isNaN(measure.error()) ? "?" : "± " + number(measure.error());
        }

        private static String number(double value) {
            return String.format(Locale.ROOT, "%.3f", value);
        }
    }

    private final Results a;
    private final Results b;
    private final List<Row> rows = new ArrayList<>();

    private Comparison(Results a, Results b) {
        this.a = a;
        this.b = b;
        a.measures().forEach((subject, measure) -> {
            Measure other = b.measures().get(subject);
            if (other != null) {
                rows.add(new Row(subject, measure, other));
            }
        });
    }

    static Comparison of(Results a, Results b) {
        return new Comparison(a, b);
    }

    void print(PrintStream out) {
        out.println("A: " + a.name());
        out.println("B: " + b.name());
        out.println();
        List<List<String>> table = new ArrayList<>();
        table.add(HEADS);
        rows.forEach(row -> table.add(row.cells()));
        int[] widths = new int[HEADS.size()];
        for (List<String> line : table) {
            for (int column = 0; column < widths.length; column++) {
                widths[column] = Math.max(widths[column], line.get(column).length());
            }
        }
        table.forEach(line -> out.println(aligned(line, widths)));
        printAlone(out, "A", a, b);
        printAlone(out, "B", b, a);
    }

    private static String aligned(List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < widths.length; column++) {
            String padding = " ".repeat(widths[column] - cells.get(column).length());
            boolean left = column < TEXT_COLUMNS || column == widths.length - 1;
            line.append(column == 0 ? "" : "  ")
                    .append(left ? cells.get(column) + padding : padding + cells.get(column));
        }
        return line.toString().stripTrailing();
    }

    private static void printAlone(PrintStream out, String name, Results these, Results others) {
        List<String> alone = these.measures().keySet().stream()
                .filter(subject -> !others.measures().containsKey(subject))
                .map(subject -> (subject.benchmark() + " " + subject.parameters()).strip()).toList();
        if (!alone.isEmpty()) {
            out.println();
            out.println("In " + name + " alone:");
            alone.forEach(subject -> out.println("  " + subject));
        }
    }
}
