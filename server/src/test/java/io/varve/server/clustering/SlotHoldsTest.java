package io.varve.server.clustering;

import java.util.BitSet;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link SlotHolds}. Confined to the test's thread. */
class SlotHoldsTest {
    private final SlotHolds holds = new SlotHolds();
    private final AtomicInteger runs = new AtomicInteger();

    private static BitSet slots(int... slots) {
        BitSet set = new BitSet();
        for (int slot : slots) {
            set.set(slot);
        }
        return set;
    }

    @Test
    void actionsOfHeldSlots_runAtTheRelease() {
        holds.hold(slots(1, 2));
        holds.hold(slots(3));
        assertThat(holds.isAny()).isTrue();
        assertThat(holds.isHeld(1)).isTrue();
        assertThat(holds.isHeld(3)).isTrue();
        assertThat(holds.isHeld(4)).isFalse();
        holds.whenReleased(4, runs::incrementAndGet);
        assertThat(runs).hasValue(1);
        holds.whenReleased(1, runs::incrementAndGet);
        assertThat(holds.waitingCount()).isOne();
        holds.release(slots(1, 2));
        assertThat(runs).hasValue(2);
        assertThat(holds.isHeld(1)).isFalse();
        assertThat(holds.isHeld(3)).isTrue();
        holds.release(slots(3));
        assertThat(holds.isAny()).isFalse();
        holds.release(slots(3));
    }

    @Test
    void actionsForAllSlots_waitForEachHold() {
        holds.whenReleased(SlotHolds.ALL, runs::incrementAndGet);
        assertThat(runs).hasValue(1);
        holds.hold(slots(1));
        holds.whenReleased(SlotHolds.ALL, runs::incrementAndGet);
        assertThat(runs).hasValue(1);
        holds.release(slots(1));
        assertThat(runs).hasValue(2);
    }

    @Test
    void aCancelledAction_doesNotRun() {
        holds.hold(slots(1));
        Runnable action = runs::incrementAndGet;
        holds.whenReleased(1, action);
        holds.cancel(action);
        holds.release(slots(1));
        assertThat(runs).hasValue(0);
    }

    @Test
    void wakeAll_runsActionsOfHeldSlots() {
        holds.hold(slots(1));
        holds.whenReleased(1, runs::incrementAndGet);
        holds.wakeAll();
        assertThat(runs).hasValue(1);
        assertThat(holds.isHeld(1)).isTrue();
    }

    @Test
    void slotThatTwoHold_staysHeldUntilBothHaveReleasedIt() {
        SlotHolds holds = new SlotHolds();
        holds.hold(slots(1, 2));
        holds.hold(slots(2));
        holds.release(slots(1, 2));
        assertThat(holds.isHeld(1)).isFalse();
        assertThat(holds.isHeld(2)).isTrue();
        holds.release(slots(2));
        assertThat(holds.isAny()).isFalse();
    }
}
