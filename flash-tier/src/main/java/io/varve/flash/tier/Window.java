package io.varve.flash.tier;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.flash.record.ItemKey;
import io.varve.flash.record.ItemRecord;
import io.varve.flash.record.RecordKey;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyWalk;

/**
 * A look at what is on flash, in the order in which memory is walked over, without taking anything out. Confined to the thread
 * that walks.
 */
final class Window {
    private final FlashStore store;
    private final Lane[] lanes;
    private final KeyWalk walk;
    private volatile boolean stopped;
    private final SplittableRandom random = new SplittableRandom();

    /** Ends what goes on. */
    void stop() {
        stopped = true;
    }

    Window(FlashStore store, Lane[] lanes) {
        this.store = store;
        this.lanes = lanes;
        walk = store.walk();
    }

    /**
     * Shows every item of an epoch that is in a group, from a position to before another, and not past its time. What is on its
     * way meanwhile may be shown more than once, and is shown if it is not in memory before and after. Ends when the visitor has seen
     * enough.
     *
     * @param to 0 for the end of the group
     */
    void show(long epoch, int group, long from, long to, long wallMillis, RecordVisitor visitor) {
        boolean more = showMoving(epoch, group, from, to, wallMillis, visitor);
        walk.seek(ItemKey.firstOf(group, from));
        while (more && !stopped && walk.next()) {
            byte[] recordKey = walk.key();
            long place = ItemKey.isKey(recordKey) ? ItemKey.placeOf(recordKey) : 0;
            if (ItemKey.group(place) != group || !isBefore(place, to)) {
                break;
            }
            if (ItemKey.epochOf(recordKey) == epoch) {
                byte[] record = store.get(recordKey);
                more = record == null || !ItemRecord.isWhole(recordKey, record)
                        || show(recordKey, record, wallMillis, visitor);
            }
        }
        if (more) {
            // Again: what was in the store when its lane was looked at, and not any more when the walk came by.
            showMoving(epoch, group, from, to, wallMillis, visitor);
        }
    }

    /** @return whether the visitor is to be shown more */
    private boolean showMoving(long epoch, int group, long from, long to, long wallMillis, RecordVisitor visitor) {
        List<Fallen> moving = new ArrayList<>();
        for (Lane lane : lanes) {
            lane.addTo(moving);
        }
        for (Fallen item : moving) {
            long place = ItemKey.placeOf(item.recordKey());
            if (ItemKey.epochOf(item.recordKey()) == epoch && ItemKey.group(place) == group
                    && Long.compareUnsigned(ItemKey.position(place), from) >= 0 && isBefore(place, to)
                    && !show(item.recordKey(), item.record(), wallMillis, visitor)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isBefore(long place, long to) {
        return to == 0 || Long.compareUnsigned(ItemKey.position(place), to) < 0;
    }

    /** Shows an item that is not past its time. @return whether the visitor is to be shown more */
    private static boolean show(byte[] recordKey, byte[] record, long wallMillis, RecordVisitor visitor) {
        long expireAt = ItemRecord.expireAtMillis(record);
        return expireAt >= 0 && wallMillis > expireAt
                || visitor.visit(ItemKey.keyOf(recordKey), ItemRecord.type(record));
    }

    /**
     * Shows one item of an epoch picked at random: from a random place on the first there is, and where few are of this epoch,
     * whichever the walk meets first.
     *
     * @return false if none was met
     */
    boolean showAny(long epoch, long wallMillis, RecordVisitor visitor) {
        walk.seek(RecordKey.prefix(random.nextLong()));
        boolean shown = showNext(epoch, wallMillis, visitor);
        if (!shown) {
            walk.seek(new byte[0]);
            shown = showNext(epoch, wallMillis, visitor);
        }
        return shown || showMovingOne(epoch, wallMillis, visitor);
    }

    private boolean showMovingOne(long epoch, long wallMillis, RecordVisitor visitor) {
        List<Fallen> moving = new ArrayList<>();
        for (Lane lane : lanes) {
            lane.addTo(moving);
        }
        boolean shown = false;
        for (Fallen item : moving) {
            if (!shown && ItemKey.epochOf(item.recordKey()) == epoch) {
                shown = showOne(item.recordKey(), item.record(), wallMillis, visitor);
            }
        }
        return shown;
    }

    /** Goes on to the next item of an epoch, to the end of the store at the most. */
    private boolean showNext(long epoch, long wallMillis, RecordVisitor visitor) {
        boolean shown = false;
        while (!shown && !stopped && walk.next()) {
            byte[] recordKey = walk.key();
            if (ItemKey.isKey(recordKey) && ItemKey.epochOf(recordKey) == epoch) {
                byte[] record = store.get(recordKey);
                shown = record != null && ItemRecord.isWhole(recordKey, record)
                        && showOne(recordKey, record, wallMillis, visitor);
            }
        }
        return shown;
    }

    /** @return whether it is not past its time, and so was shown */
    private static boolean showOne(byte[] recordKey, byte[] record, long wallMillis, RecordVisitor visitor) {
        return !show(recordKey, record, wallMillis, (key, type) -> {
            visitor.visit(key, type);
            return false;
        });
    }
}
