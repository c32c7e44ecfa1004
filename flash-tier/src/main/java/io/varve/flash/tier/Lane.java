package io.varve.flash.tier;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.varve.flash.tier.Departures.Leaving;
import io.varve.flash.tier.Fallen.Name;
import io.varve.flash.tier.Fetch.Wanted;
import org.jspecify.annotations.Nullable;

/**
 * The keys of some places, on their way down, up and away: what has fallen waits here to be written, what is asked for to be
 * looked at, and what others chose to go to be taken out. One thread serves it, and nobody else touches these keys in the store, so
 * the steps of a key are taken one after the other. Guarded by its lock, which is never held while a file is touched: event loops
 * come here, some with a shard's lock.
 *
 * <p>What is asked for goes first, but every other turn is for what has fallen when that is a good part of what may wait: else it
 * would be lost as soon as there are always some who ask. What is asked for and has fallen and is not written yet goes back as it is.
 * What is loaded, for which nobody waits, is looked at while nobody asks for anything, or when many turns were for those who do.
 */
final class Lane {
    /** Keys that are looked at, or records that are written, in one turn. */
    static final int MOST_AT_ONCE = 32;
    /** Keys that are taken out in one turn: as those who choose them may be ahead. */
    private static final int MOST_LEAVING_AT_ONCE = 2 * MOST_AT_ONCE;
    private static final int PART_BEFORE_ASKED = 4;
    /** Of those for which nobody waits: who begins to wait meanwhile is not to wait long. */
    private static final int MOST_LOADED_AT_ONCE = 8;
    /** So many turns for those who ask go before one for what is loaded. */
    private static final int TURNS_BEFORE_LOADS = 8;
    /** What is offered is not to take the room of what has to fall, nor turns from those who ask. */
    private static final int PART_FOR_OFFERS = PART_BEFORE_ASKED;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Map<Name, Fallen> falling = new LinkedHashMap<>();
    private final ArrayDeque<Asked> asked = new ArrayDeque<>();
    private final ArrayDeque<Asked> loads = new ArrayDeque<>();
    private final ArrayDeque<Leaving> leaving = new ArrayDeque<>();
    private final Departures departures;
    private final long mostBytes;
    /** What the lane's thread has in its hands: neither here nor in the store nor in memory, or in two of them. */
    private final List<Fallen> carried = new ArrayList<>();
    /** What was carried since somebody looks. */
    private final List<Fallen> arrived = new ArrayList<>();
    private int looks;
    private long fallingBytes;
    /** Whether the last turn was one for those who ask. */
    private boolean asksServed;
    /** How many were since the last one for what is loaded. */
    private int turnsSinceLoads;
    private boolean closing;

    /** A key that is asked for. */
    record Asked(Fetch fetch, Wanted wanted, long sinceNanos) {}

    /** A key, all who asked for it, and what had fallen of it, which is left where it is by those who load. Immutable, but for the list while it is made. */
    record Looked(List<Asked> askers, @Nullable Fallen fallen) {
        /** Whether nobody waits for it. Those who ask and those who load are never looked at together. */
        boolean isLoad() {
            return askers.getFirst().fetch().isLoad();
        }

        int loadedClass() {
            return askers.getFirst().fetch().loadedClass();
        }

        Wanted wanted() {
            return askers.getFirst().wanted();
        }

        void outcome(Fetch.Outcome found) {
            askers.forEach(asker -> asker.wanted().outcome(found));
        }
    }

    /** What is to be done next: keys that are asked for, or what goes down and away; nothing at the end. Immutable. */
    record Work(List<Looked> asked, List<Fallen> fallen, List<Leaving> leaving) {
        boolean isEnd() {
            return asked.isEmpty() && fallen.isEmpty() && leaving.isEmpty();
        }
    }

    /**
     * @param mostBytes  of what has fallen and is not written
     * @param departures of all lanes' keys
     */
    Lane(long mostBytes, Departures departures) {
        this.mostBytes = mostBytes;
        this.departures = departures;
    }

    /** Whether something of this size could fall. */
    boolean hasRoom(int bytes) {
        lock.lock();
        try {
            return !closing && fallingBytes + bytes <= mostBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Whether something of this size could ever be taken on offer. */
    boolean couldSpare(int bytes) {
        return bytes <= mostBytes / PART_FOR_OFFERS;
    }

    /** Whether it can be now: most of the room is kept for what has to fall. */
    boolean canSpare(int bytes) {
        lock.lock();
        try {
            return !closing && fallingBytes + bytes <= mostBytes / PART_FOR_OFFERS;
        } finally {
            lock.unlock();
        }
    }

    /** @return false if there is no room for it any more */
    boolean fall(Fallen item) {
        lock.lock();
        try {
            if (closing || fallingBytes + item.heapBytes() > mostBytes) {
                return false;
            }
            Fallen before = falling.put(new Name(item.recordKey()), item);
            assert before == null : "a key fell that had fallen";
            fallingBytes += item.heapBytes();
            work.signal();
            return true;
        } finally {
            lock.unlock();
        }
    }

    void ask(Fetch fetch, Wanted wanted, long nowNanos) {
        lock.lock();
        try {
            if (!fetch.isLoad()) {
                asked.add(new Asked(fetch, wanted, nowNanos));
            } else if (!closing) {
                loads.add(new Asked(fetch, wanted, nowNanos));
            }
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    /** A key of the lane's is to go, and has {@link Departures#begin begun} to. */
    void leave(Leaving key) {
        lock.lock();
        try {
            leaving.add(key);
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for work; the end comes when the lane was closed and is empty. For its thread. */
    Work take() {
        lock.lock();
        try {
            putDown();
            while (asked.isEmpty() && loads.isEmpty() && falling.isEmpty() && leaving.isEmpty() && !closing) {
                work.awaitUninterruptibly();
            }
            boolean writes = asksServed
                    && (fallingBytes > mostBytes / PART_BEFORE_ASKED || leaving.size() >= MOST_LEAVING_AT_ONCE);
            asksServed = !writes && !(asked.isEmpty() && loads.isEmpty());
            List<Looked> looked = asksServed ? takeAsked() : List.of();
            List<Leaving> gone = asksServed ? List.of() : takeLeaving();
            List<Fallen> fallen = new ArrayList<>();
            Iterator<Fallen> eldest = falling.values().iterator();
            while (!asksServed && eldest.hasNext() && fallen.size() < MOST_AT_ONCE) {
                Fallen next = eldest.next();
                fallingBytes -= next.heapBytes();
                fallen.add(next);
                eldest.remove();
            }
            carried.addAll(fallen);
            return new Work(looked, fallen, gone);
        } finally {
            lock.unlock();
        }
    }

    private List<Looked> takeAsked() {
        boolean isLoad = !loads.isEmpty() && (asked.isEmpty() || turnsSinceLoads >= TURNS_BEFORE_LOADS);
        turnsSinceLoads = isLoad ? 0 : Math.min(turnsSinceLoads + 1, TURNS_BEFORE_LOADS);
        ArrayDeque<Asked> served = isLoad ? loads : asked;
        int most = isLoad ? MOST_LOADED_AT_ONCE : MOST_AT_ONCE;
        // Each key once, however many ask for it: it comes back once.
        Map<Name, Looked> looked = new LinkedHashMap<>();
        for (int taken = 0; !served.isEmpty() && taken < most; taken++) {
            Asked next = served.remove();
            Name name = new Name(next.wanted().recordKey());
            Looked known = looked.get(name);
            if (known != null) {
                known.askers().add(next);
                continue;
            }
            // What falls while its class is loaded was driven out: it would be so again, and might find no room here any more.
            Fallen fallen = isLoad ? null : falling.remove(name);
            if (fallen != null) {
                fallingBytes -= fallen.heapBytes();
                carried.add(fallen);
            }
            looked.put(name, new Looked(new ArrayList<>(List.of(next)), fallen));
        }
        return List.copyOf(looked.values());
    }

    /** What has fallen since it was chosen came up before: what was chosen is not there any more. */
    private List<Leaving> takeLeaving() {
        List<Leaving> taken = new ArrayList<>();
        while (!leaving.isEmpty() && taken.size() < MOST_LEAVING_AT_ONCE) {
            Leaving next = leaving.remove();
            if (falling.containsKey(next.name())) {
                departures.end(next.name());
            } else {
                taken.add(next);
            }
        }
        return taken;
    }

    /** Everything that was carried has arrived. */
    private void putDown() {
        carried.forEach(this::seenOnItsWay);
        carried.clear();
    }

    /** Who looks at what is moving is to see it all the same, its value apart. */
    private void seenOnItsWay(Fallen item) {
        if (looks > 0) {
            arrived.add(item.withoutValue());
        }
    }

    /** The lane's thread has brought an item to memory: from now on it is there, or gone from there. */
    void putDown(Fallen item) {
        lock.lock();
        try {
            seenOnItsWay(item);
            carried.remove(item);
        } finally {
            lock.unlock();
        }
    }

    /** Somebody begins to look at what is moving... */
    void beginLook() {
        lock.lock();
        try {
            looks++;
        } finally {
            lock.unlock();
        }
    }

    /** ... and has seen enough. */
    void endLook() {
        lock.lock();
        try {
            looks--;
            if (looks == 0) {
                arrived.clear();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The lane's thread takes an item out of the store. */
    void carry(Fallen item) {
        lock.lock();
        try {
            carried.add(item);
        } finally {
            lock.unlock();
        }
    }

    /** Adds what is on its way here. */
    void addTo(List<Fallen> all) {
        lock.lock();
        try {
            all.addAll(falling.values());
            all.addAll(carried);
            all.addAll(arrived);
        } finally {
            lock.unlock();
        }
    }

    /** Takes nothing more; what is there is done. */
    void close() {
        lock.lock();
        try {
            closing = true;
            loads.clear();
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    /** What has fallen and is not known to be written. */
    int depth() {
        lock.lock();
        try {
            return falling.size() + carried.size();
        } finally {
            lock.unlock();
        }
    }

    long fallingBytes() {
        lock.lock();
        try {
            return fallingBytes;
        } finally {
            lock.unlock();
        }
    }

    int waiting() {
        lock.lock();
        try {
            return asked.size();
        } finally {
            lock.unlock();
        }
    }
}
