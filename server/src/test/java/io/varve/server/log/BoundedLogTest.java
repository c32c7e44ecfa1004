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

    private void updateOrAdd(int searched, String from, String to) {
        log.updateOrAdd(searched, entry -> entry.text().equals(from), entry -> new Entry(entry.id(), to),
                id -> new Entry(id, "added"), MAX_ENTRIES);
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
    void updateOrAdd_replacesTheNewestMatch_andMovesItToTheFront() {
        add("same");
        add("same");
        add("other");
        updateOrAdd(10, "same", "new");
        assertThat(log.latest(10)).containsExactly(new Entry(1, "new"), new Entry(2, "other"), new Entry(0, "same"));
    }

    @Test
    void updateOrAdd_ofAnEntryAmongTheSearchedOnes_updatesIt() {
        add("old");
        add("a");
        add("b");
        updateOrAdd(3, "old", "new");
        assertThat(log.latest(10)).extracting(Entry::text).containsExactly("new", "b", "a");
    }

    @Test
    void updateOrAdd_ofAnEntryBeyondTheSearchedOnes_adds_andDropsTheOldest() {
        add("old");
        add("a");
        add("b");
        updateOrAdd(2, "old", "new");
        assertThat(log.latest(10)).extracting(Entry::text).containsExactly("added", "b", "a");
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
