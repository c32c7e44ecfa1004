package io.varve.server.recovery;

import java.util.List;
import java.util.concurrent.Phaser;

import io.varve.server.persistence.ReplayClock;

/**
 * Shared by the parts of one file: a point where they wait for each other, and the time of the cache.
 * Thread-safe.
 */
final class ReplayMeeting {
    private final List<ReplayPart> parts;
    private final ReplayClock clock;
    private final Phaser phaser;
    /** Written by the first part before it waits, and read by all afterwards. */
    private int database;

    ReplayMeeting(List<ReplayPart> parts, ReplayClock clock) {
        this.parts = parts;
        this.clock = clock;
        phaser = new Phaser(parts.size());
    }

    /** Waits until all parts have come. @return false if they will not */
    boolean await() {
        return phaser.arriveAndAwaitAdvance() >= 0;
    }

    /** Nobody waits from now on. */
    void cancel() {
        phaser.forceTermination();
    }

    /** The database that the first part has selected. */
    int database() {
        return database;
    }

    void database(int selected) {
        database = selected;
    }

    /**
     * Stops the clock of the cache at the time of the part that is behind all others, so that nothing expires before a
     * command that may still see it.
     */
    void timePassed() {
        long earliest = Long.MAX_VALUE;
        for (ReplayPart part : parts) {
            long time = part.timeMillis();
            if (time == ReplayPart.UNKNOWN) {
                return;
            }
            earliest = Math.min(earliest, time);
        }
        clock.stopAt(earliest);
    }
}
