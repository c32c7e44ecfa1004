package io.varve.proxy.merge;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

import io.netty.buffer.ByteBuf;
import io.varve.memory.offheap.Memory;
import io.varve.proxy.resp.ReplyTarget;
import org.jspecify.annotations.Nullable;

/**
 * The GETs in flight whose answer others may share. Confined to an event loop; the counter is thread-safe.
 *
 * <p>A read may join another one only if no write to its key through this proxy has been in flight since the other one
 * was sent. Then the value that the member read is also the value at any later time until the join, so that the answer
 * is linearizable for both. The record of the decision on the proxy has the reasoning. Writes that do not pass this
 * proxy are not seen: a joined read may miss one that ended while the shared read was in flight.
 *
 * <p>It is a hash table with chains of its own, because the hash and the place of a key are needed once for each read.
 */
public final class SharedReads {
    private static final int INITIAL_CHAINS = 1 << 10;

    private final WriteStamps stamps;
    private final LongAdder joined;
    private @Nullable SharedRead[] chains = new SharedRead[INITIAL_CHAINS];
    private int size;

    /** @param joined counts reads that were not sent */
    public SharedReads(WriteStamps stamps, LongAdder joined) {
        this.stamps = stamps;
        this.joined = joined;
    }

    /**
     * Adds a read to one of the same key in flight, or offers it to later ones.
     *
     * @param key address of the key, which must stay valid until the reply was accepted
     * @return the target of its reply if it is to be sent; null if it has joined another one
     */
    public @Nullable ReplyTarget joinOrLead(long key, int length, ReplyTarget target) {
        int hash = WriteStamps.hash(key, length);
        int stripe = WriteStamps.stripe(hash);
        long stamp = stamps.stamp(stripe);
        long stampOfEverything = stamps.stampOfEverything();
        SharedRead known = find(hash, key, length);
        if (known != null) {
            if (known.stamp == stamp && known.stampOfEverything == stampOfEverything) {
                known.add(target);
                joined.increment();
                return null;
            }
            remove(known);
        }
        if (!WriteStamps.isQuiet(stamp) || !WriteStamps.isQuiet(stampOfEverything)) {
            return target;
        }
        SharedRead read = new SharedRead(hash, key, length, stamp, stampOfEverything, target);
        add(read);
        return read;
    }

    private @Nullable SharedRead find(int hash, long key, int length) {
        SharedRead at = chains[hash & chains.length - 1];
        while (at != null && !(at.hash == hash && at.length == length && Memory.equal(at.key, key, length))) {
            at = at.next;
        }
        return at;
    }

    private void add(SharedRead read) {
        if (size == chains.length) {
            grow();
        }
        size++;
        link(read);
    }

    private void link(SharedRead read) {
        int chain = read.hash & chains.length - 1;
        read.next = chains[chain];
        chains[chain] = read;
    }

    private void grow() {
        @Nullable
        SharedRead[] smaller = chains;
        chains = new SharedRead[2 * smaller.length];
        for (SharedRead head : smaller) {
            SharedRead at = head;
            while (at != null) {
                SharedRead next = at.next;
                link(at);
                at = next;
            }
        }
    }

    /** Does nothing if the read was replaced by a later one. */
    private void remove(SharedRead read) {
        int chain = read.hash & chains.length - 1;
        SharedRead at = chains[chain];
        if (at == read) {
            chains[chain] = read.next;
            size--;
            return;
        }
        while (at != null) {
            if (at.next == read) {
                at.next = read.next;
                size--;
                return;
            }
            at = at.next;
        }
    }

    /** A read in flight. Confined to the event loop. */
    private final class SharedRead implements ReplyTarget {
        private final int hash;
        private final long key;
        private final int length;
        private final long stamp;
        private final long stampOfEverything;
        private final ReplyTarget leader;
        private @Nullable List<ReplyTarget> followers;
        private @Nullable SharedRead next;

        SharedRead(int hash, long key, int length, long stamp, long stampOfEverything, ReplyTarget leader) {
            this.hash = hash;
            this.key = key;
            this.length = length;
            this.stamp = stamp;
            this.stampOfEverything = stampOfEverything;
            this.leader = leader;
        }

        void add(ReplyTarget follower) {
            List<ReplyTarget> others = followers;
            if (others == null) {
                others = new ArrayList<>(2);
                followers = others;
            }
            others.add(follower);
        }

        @Override
        public void accept(ByteBuf reply) {
            remove(this);
            List<ReplyTarget> others = followers;
            if (others != null) {
                for (ReplyTarget follower : others) {
                    follower.accept(reply.retainedDuplicate());
                }
            }
            leader.accept(reply);
        }
    }
}
