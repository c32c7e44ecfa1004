package io.varve.server.log;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BoundedLogTest {
    private static final long MAX_ENTRIES = 3;

    /** An entry with its id. */
    private record Entry(long id, String text) {}

    private final BoundedLog<Entry> log = new BoundedLog<>();

    private void add(String text) {
        log.add(id -> new Entry(id, text), MAX_ENTRIES);
    }

    private boolean update(int searched, String from, String to) {
        return log.update(searched, entry -> entry.text().equals(from), entry -> new Entry(entry.id(), to));
    }

    @Test
    void add_overTheLimit_dropsTheOldest() {
        for (String text : new String[] {"a", "b", "c", "d"}) {
            add(text);
        }
        assertThat(log.latest(10)).containsExactly(new Entry(3, "d"), new Entry(2, "c"), new Entry(1, "b"));
        assertThat(log.size()).isEqualTo(3);
    }

    @Test
    void add_withLimitZero_keepsNothingButCountsTheId() {
        log.add(id -> new Entry(id, "dropped"), 0);
        assertThat(log.size()).isZero();
        add("a");
        assertThat(log.latest(10)).containsExactly(new Entry(1, "a"));
    }

    @Test
    void latest_returnsAtMostCountEntries() {
        add("a");
        add("b");
        assertThat(log.latest(1)).containsExactly(new Entry(1, "b"));
        assertThat(log.latest(0)).isEmpty();
        assertThat(log.latest(-1)).isEmpty();
    }

    @Test
    void update_replacesTheNewestMatch_andMovesItToTheFront() {
        add("same");
        add("same");
        add("other");
        assertThat(update(10, "same", "new")).isTrue();
        assertThat(log.latest(10)).containsExactly(new Entry(1, "new"), new Entry(2, "other"), new Entry(0, "same"));
    }

    @Test
    void update_ofAnEntryBeyondTheSearchedOnes_changesNothing() {
        add("old");
        add("a");
        add("b");
        assertThat(update(2, "old", "new")).isFalse();
        assertThat(log.latest(10)).extracting(Entry::text).containsExactly("b", "a", "old");
        assertThat(update(3, "old", "new")).isTrue();
        assertThat(log.latest(10)).extracting(Entry::text).containsExactly("new", "b", "a");
    }

    @Test
    void trim_toASmallerLimit_keepsTheNewest() {
        add("a");
        add("b");
        log.trim(5);
        assertThat(log.size()).isEqualTo(2);
        log.trim(1);
        assertThat(log.latest(10)).containsExactly(new Entry(1, "b"));
    }

    @Test
    void reset_removesAllEntries_andContinuesTheIds() {
        add("a");
        log.reset();
        assertThat(log.size()).isZero();
        add("b");
        assertThat(log.latest(10)).containsExactly(new Entry(1, "b"));
    }
}
