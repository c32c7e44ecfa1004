package io.varve.experiments.result;

import java.util.List;

/**
 * A paper's published values beside our measurements. Immutable.
 *
 * @param id such as {@code Figure 7}
 * @param title the title of the table
 * @param head the columns' names
 * @param rows the rows, each with as many cells as the head
 * @param says the paper's reading, in our words
 * @param notes values that are missing in the table, and why
 */
public record PaperTable(String id, String title, List<String> head, List<List<String>> rows, String says,
        List<String> notes) {
    public PaperTable {
        head = List.copyOf(head);
        rows = List.copyOf(rows);
        notes = List.copyOf(notes);
    }

    /** The table for a terminal. */
    public String text() {
        int[] widths = new int[head.size()];
        widen(widths, head);
        rows.forEach(row -> widen(widths, row));
        StringBuilder text = new StringBuilder("\n" + id + ": " + title + "\n");
        if (!rows.isEmpty()) {
            line(text, widths, head);
            rows.forEach(row -> line(text, widths, row));
        }
        if (!says.isEmpty()) {
            text.append("  the paper: ").append(says).append('\n');
        }
        notes.forEach(note -> text.append("  ").append(note).append('\n'));
        return text.toString();
    }

    private static void widen(int[] widths, List<String> words) {
        for (int i = 0; i < widths.length; i++) {
            widths[i] = Math.max(widths[i], words.get(i).length());
        }
    }

    private static void line(StringBuilder text, int[] widths, List<String> words) {
        for (int i = 0; i < widths.length; i++) {
            String gap = " ".repeat(widths[i] - words.get(i).length());
            text.append(i == 0 ? "  " + words.get(i) + gap : "  " + gap + words.get(i));
        }
        text.append('\n');
    }
}
