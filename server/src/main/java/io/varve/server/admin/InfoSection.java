package io.varve.server.admin;

/**
 * Writes the lines of one section of INFO, {@code name:value} below a heading. Confined to the thread that writes the
 * report.
 *
 * @param out receives the text
 */
record InfoSection(StringBuilder out) {
    InfoSection head(String title) {
        if (!out.isEmpty()) {
            out.append("\r\n");
        }
        out.append("# ").append(title).append("\r\n");
        return this;
    }

    InfoSection field(String name, String value) {
        out.append(name).append(':').append(value).append("\r\n");
        return this;
    }

    InfoSection field(String name, long value) {
        return field(name, Long.toString(value));
    }
}
