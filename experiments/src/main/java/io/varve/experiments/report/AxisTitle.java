package io.varve.experiments.report;

/** The title of an axis: a quantity and its unit. Stateless. */
final class AxisTitle {
    private AxisTitle() {}

    /** The unit, after the quantity that it measures if it is a symbol. */
    static String of(String unit) {
        return switch (unit) {
            case "µs", "ms", "s" -> "time, " + unit;
            case "MB" -> "memory, MB";
            case "%" -> "share, %";
            case "bytes" -> "size, bytes";
            default -> unit;
        };
    }
}
