package io.varve.server.clustering;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.server.keys.HeapKey;

/**
 * The keys of this member that other members keep copies of, in memory only. Guarded by its own monitor; any thread
 * calls it.
 */
public final class ReplicatedKeys {
    /** Each write to any key looks for its key among these, and each holder keeps all of them. */
    public static final int MAX_KEYS = 1_024;
    public static final int MAX_COPIES = 1_000;

    private final Map<HeapKey, Integer> copies = new LinkedHashMap<>();
    private final LongAdder sent = new LongAdder();
    private volatile Runnable onChange = () -> {};
    private volatile Function<HeapKey, List<Member>> holders = _ -> List.of();

    /** Sets what happens after each change. */
    public void onChange(Runnable action) {
        onChange = action;
    }

    /** Sets who tells which members serve copies of a key now. */
    public void holders(Function<HeapKey, List<Member>> source) {
        holders = source;
    }

    /**
     * Has a key copied from now on.
     *
     * @return false if there are too many
     */
    public boolean put(HeapKey key, int count) {
        synchronized (this) {
            if (copies.size() >= MAX_KEYS && !copies.containsKey(key)) {
                return false;
            }
            copies.put(key, count);
        }
        onChange.run();
        return true;
    }

    /** Ends the copies of a key. */
    public void remove(HeapKey key) {
        synchronized (this) {
            copies.remove(key);
        }
        onChange.run();
    }

    /** The keys, and how many copies each shall have. */
    public synchronized Map<HeapKey, Integer> all() {
        return new LinkedHashMap<>(copies);
    }

    public synchronized int count() {
        return copies.size();
    }

    /** The members that serve copies of a key now. */
    public List<Member> holders(HeapKey key) {
        return holders.apply(key);
    }

    /** A value was sent to a holder, or its deletion. */
    public void sent() {
        sent.increment();
    }

    /** Values and deletions that were sent. */
    public long sentCount() {
        return sent.sum();
    }

    /**
     * The other primaries that shall have copies of a key of this member: those with the highest rank for the key
     * (rendezvous hashing), so that a member that leaves is replaced, and the others stay.
     *
     * @param count how many; there may be fewer
     */
    public static List<Member> choose(ClusterView view, HeapKey key, int count) {
        Member receiver = view.migrating().get(HashSlot.of(key.bytes()));
        List<Member> others = new ArrayList<>();
        for (Member member : view.map().members()) {
            if (member.isPrimary() && member.kind() == Member.Kind.VARVE && !view.isMe(member)
                    && (receiver == null || !receiver.id().equals(member.id()))) {
                others.add(member);
            }
        }
        others.sort(Comparator.comparingLong(member -> rank(key, member)));
        return others.subList(0, Math.min(count, others.size()));
    }

    private static long rank(HeapKey key, Member member) {
        long hash = (long) key.name().hashCode() << Integer.SIZE ^ member.id().hashCode();
        hash = (hash ^ hash >>> 30) * 0xBF58476D1CE4E5B9L;
        hash = (hash ^ hash >>> 27) * 0x94D049BB133111EBL;
        return hash ^ hash >>> 31;
    }
}
