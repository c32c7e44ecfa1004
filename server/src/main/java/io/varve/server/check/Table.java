package io.varve.server.check;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** A table of text, whose columns of numbers are aligned to the right. Confined to one thread. */
final class Table {
    private static final Pattern NUMBER = Pattern.compile("-|-?[0-9,]+");

    private final List<List<String>> rows = new ArrayList<>();

    Table(String... titles) {
        row(titles);
    }

    /** Adds a row with a cell for each title. */
    void row(String... cells) {
        rows.add(List.of(cells));
    }

    static String number(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    void print(PrintStream out) {
        int columns = rows.getFirst().size();
        int[] widths = new int[columns];
        boolean[] right = new boolean[columns];
        for (int i = 0; i < columns; i++) {
            int column = i;
            widths[i] = rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
            right[i] = rows.stream().skip(1).allMatch(row -> NUMBER.matcher(row.get(column)).matches());
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                String blanks = " ".repeat(widths[i] - row.get(i).length());
                line.append("  ").append(right[i] ? blanks + row.get(i) : row.get(i) + blanks);
            }
            out.println(line.toString().stripTrailing());
        }
    }
}
