package io.varve.experiments.result.table;

import java.util.List;
import java.util.Locale;

import io.varve.experiments.result.Cell;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunRecord;
import org.jspecify.annotations.Nullable;

/** Formats the cells of all runs for {@code summary.csv} and for a terminal. Stateless. */
final class CellText {
    private CellText() {}

    static String csv(List<RunRecord> runs) {
        StringBuilder csv = new StringBuilder("run,outcome,test,pipeline,server,repetitions,cpu_us_per_op,"
                + "cpu_us_per_op_min,cpu_us_per_op_max,ratio,ratio_min,ratio_max,target,held,ops,ops_min,ops_max,"
                + "server_busy_percent,hit_percent\n");
        for (RunRecord run : runs) {
            for (Cell cell : run.cells()) {
                MedianRange ratio = cell.ratio();
                csv.append(run.run().id()).append(',').append(run.outcome()).append(',').append(cell.test()).append(',')
                        .append(cell.pipeline()).append(',').append(cell.contestant()).append(',')
                        .append(cell.ops().count()).append(',').append(range(cell.cpuMicrosPerOp())).append(',')
                        .append(ratio == null ? ",," : range(ratio)).append(',').append(number(cell.target()))
                        .append(',').append(held(cell)).append(',').append(range(cell.ops())).append(',')
                        .append(number(cell.busyPercent().median())).append(',').append(number(cell.hitPercent()))
                        .append('\n');
            }
        }
        return csv.toString();
    }

    private static String held(Cell cell) {
        return cell.ratio() == null || cell.target() == null
                ? ""
                : cell.ratio().median() <= cell.target() ? "yes" : "no";
    }

    private static String range(MedianRange range) {
        return number(range.median()) + "," + number(range.min()) + "," + number(range.max());
    }

    private static String number(@Nullable Double value) {
        return value == null || !Double.isFinite(value) ? "" : String.format(Locale.ROOT, "%.3f", value);
    }

    static String table(List<RunRecord> runs) {
        StringBuilder text = new StringBuilder();
        for (RunRecord run : runs) {
            text.append('\n').append(run.run().id())
                    .append(run.outcome() == RunRecord.Outcome.OK
                            ? "\n"
                            : "  " + run.outcome() + ": " + String.join("; ", run.faults()) + "\n");
            text.append(String.format(Locale.ROOT, "  %-10s %8s  %-22s %10s %12s %20s %7s %6s%n", "test", "pipeline",
                    "server", "CPU us/op", "ops/s", "ratio (range)", "target", "hits"));
            for (Cell cell : run.cells()) {
                MedianRange ratio = cell.ratio();
                text.append(String.format(Locale.ROOT, "  %-10s %8d  %-22s %10.3f %,12.0f %20s %7s %6s%n", cell.test(),
                        cell.pipeline(), cell.contestant(), cell.cpuMicrosPerOp().median(), cell.ops().median(),
                        ratio == null
                                ? "-"
                                : String.format(Locale.ROOT, "%.3f (%.3f to %.3f)", ratio.median(), ratio.min(),
                                        ratio.max()),
                        cell.target() == null ? "-" : String.format(Locale.ROOT, "%.3f", cell.target()),
                        cell.hitPercent() == null ? "-" : String.format(Locale.ROOT, "%.1f", cell.hitPercent())));
            }
            run.measured().forEach((name, value) -> {
                if (name.startsWith("cpu_")) {
                    text.append(String.format(Locale.ROOT, "             %s: %.3f%n", name.replace('_', ' '), value));
                }
            });
            Summary.appendChecks(text, run);
        }
        return text.append('\n').toString();
    }
}
