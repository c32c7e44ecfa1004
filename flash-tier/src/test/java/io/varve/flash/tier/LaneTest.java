package io.varve.flash.tier;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.varve.flash.record.ItemKey;
import io.varve.flash.record.ItemRecord;
import io.varve.flash.tier.Lane.Looked;
import io.varve.flash.tier.Lane.Work;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Who is served first. Confined to the test's thread, which is the lane's, too. */
class LaneTest {
    private static final int LOADED_CLASS = 4;

    private final Lane lane = new Lane(1 << 20, new Departures());

    private static byte[] name(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    private void ask(String prefix, int count, boolean isLoad) {
        Fetch fetch = isLoad ? new Fetch(LOADED_CLASS, () -> {}) : new Fetch(() -> {});
        for (int i = 0; i < count; i++) {
            fetch.add(0, 1, i, name(prefix + i));
        }
        fetch.begin().forEach(wanted -> lane.ask(fetch, wanted, 0));
    }

    private static Fallen fallen(String name, int place) {
        return new Fallen(ItemKey.of(ItemKey.place(place), 1, name(name)), ItemRecord.begin(0, 0, 0, 0, -1, 10));
    }

    @Test
    void whoLoadsIsServedWhileOthersAskAllTheTime() {
        ask("load ", 20, true);
        List<Integer> loads = new ArrayList<>();
        int asked = 0;
        for (int turn = 0; turn < 40; turn++) {
            ask("asked " + turn + " ", 100, false);
            List<Looked> looked = lane.take().asked();
            assertThat(looked.stream().map(Looked::isLoad).distinct()).as("never both in a turn").hasSize(1);
            if (looked.getFirst().isLoad()) {
                loads.add(looked.size());
            } else {
                asked += looked.size();
            }
        }
        assertThat(loads).containsExactly(8, 8, 4);
        assertThat(asked).isEqualTo(37 * Lane.MOST_AT_ONCE);
    }

    @Test
    void whoAsksGoesFirst() {
        ask("load ", 8, true);
        ask("asked ", 10, false);
        assertThat(lane.take().asked()).hasSize(10).noneMatch(Looked::isLoad);
        assertThat(lane.take().asked()).hasSize(8).allMatch(Looked::isLoad);
    }

    @Test
    void aLoadLeavesWhatFallsWhereItIs() {
        Fallen falls = fallen("falls", 0);
        assertThat(lane.fall(falls)).isTrue();
        Fetch load = new Fetch(LOADED_CLASS, () -> {});
        load.add(0, falls.recordKey());
        load.begin().forEach(wanted -> lane.ask(load, wanted, 0));
        Work first = lane.take();
        assertThat(first.asked()).hasSize(1);
        assertThat(first.asked().getFirst().fallen()).isNull();
        assertThat(lane.fallingBytes()).isEqualTo(falls.heapBytes());
        assertThat(lane.take().fallen()).containsExactly(falls);
    }

    @Test
    void whoAsksGetsItBack() {
        Fallen falls = fallen("asked 0", 0);
        assertThat(lane.fall(falls)).isTrue();
        ask("asked ", 1, false);
        assertThat(lane.take().asked().getFirst().fallen()).isSameAs(falls);
        assertThat(lane.fallingBytes()).isZero();
    }
}
