package io.varve.experiments.simulate;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The line format of a trace. Immutable. */
public enum TraceFormat {
    /** The whole line is the key. */
    KEYS,
    /** Columns below a line of names, one of which is the key's. */
    CSV,
    /**
     * Block requests as the UMass trace repository publishes them: unit, sector of 512 bytes, bytes, opcode, seconds.
     */
    SPC,
    /**
     * Block requests of Microsoft Research Cambridge: time, host, disk, type, offset and size in bytes, response time.
     */
    MSR;

    String optionName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The names of all formats. */
    public static List<String> names() {
        return Arrays.stream(values()).map(TraceFormat::optionName).toList();
    }

    /** @throws IllegalArgumentException with all names, if this one is unknown */
    public static TraceFormat of(String name) {
        for (TraceFormat format : values()) {
            if (format.optionName().equals(name)) {
                return format;
            }
        }
        throw new IllegalArgumentException("unknown trace format '" + name + "': expected "
                + String.join(", ", names()));
    }
}
