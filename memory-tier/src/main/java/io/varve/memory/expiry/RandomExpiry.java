package io.varve.memory.expiry;

import java.util.function.Consumer;

/**
 * Redis's algorithm: one set of all items that expire, and samples of it. Guarded by the shard's lock.
 *
 * <p>It serves as a baseline for comparison. Up to about a quarter of the set may be past its time and stay.
 */
final class RandomExpiry extends Expiry {
    private static final int CELL = 0;

    private final RandomRounds rounds;

    RandomExpiry(Setting setting) {
        super(1, setting);
        rounds = new RandomRounds(this, setting.ticker());
    }

    @Override
    public void beginCycle(long nowMillis) {
        rounds.beginCycle();
    }

    @Override
    CycleStatus expireDue(long nowMillis) {
        return rounds.run(nowMillis);
    }

    /** Always true: there is one cell. */
    @Override
    public boolean mayStay(long oldExpireAtMillis, long newExpireAtMillis) {
        return true;
    }

    @Override
    int cellFor(long expireAtMillis, long nowMillis) {
        return CELL;
    }

    @Override
    void occupied(int cell, long expireAtMillis) {
        // One cell for all times: there is nothing to record.
    }

    @Override
    long vacated(int cell) {
        return 0; // one cell for all times
    }

    @Override
    boolean mayHoldDue(int cell, long nowMillis) {
        return true;
    }

    @Override
    boolean isAtHome(int cell, long expireAtMillis) {
        return cell == CELL;
    }

    @Override
    void checkBuckets(Consumer<String> problems) {
        // There are none.
    }
}
