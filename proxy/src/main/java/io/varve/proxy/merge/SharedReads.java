package io.varve.proxy.merge;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

import io.netty.buffer.ByteBuf;
import io.varve.proxy.resp.ReplyTarget;
import org.jspecify.annotations.Nullable;

/**
 * The GETs in flight whose answer others may share. Confined to an event loop; the counter is thread-safe.
 *
 * <p>A read may join another one only if no write to its key through this proxy has been in flight since the other one
 * was sent. Then the value that the member read is also the value at any later time until the join, so that the answer
 * is linearizable for both. The record of the decision on the proxy has the reasoning. Writes that do not pass this
 * proxy are not seen: a joined read may miss one that ended while the shared read was in flight.
 */
public final class SharedReads {
    private final WriteStamps stamps;
    private final LongAdder joined;
    /** By the bytes of the request. */
    private final Map<ByteBuf, SharedRead> inFlight = new HashMap<>();

    /** @param joined counts reads that were not sent */
    public SharedReads(WriteStamps stamps, LongAdder joined) {
        this.stamps = stamps;
        this.joined = joined;
    }

    /**
     * Adds a read to an identical one in flight.
     *
     * @param stripe {@link WriteStamps#stripe} of its key
     * @return false if there is none that it may share
     */
    public boolean join(ByteBuf request, int stripe, ReplyTarget target) {
        SharedRead read = inFlight.get(request);
        if (read == null || read.stamp != stamps.stamp(stripe)
                || read.stampOfEverything != stamps.stampOfEverything()) {
            return false;
        }
        read.followers.add(target);
        joined.increment();
        return true;
    }

    /**
     * Offers a read, which is about to be sent, to later ones.
     *
     * @param request must stay valid until the reply was accepted
     * @return the target of its reply
     */
    public ReplyTarget lead(ByteBuf request, int stripe, ReplyTarget target) {
        // An older read is replaced together with its request, which is the key.
        inFlight.remove(request);
        long stamp = stamps.stamp(stripe);
        long stampOfEverything = stamps.stampOfEverything();
        if (!WriteStamps.isQuiet(stamp) || !WriteStamps.isQuiet(stampOfEverything)) {
            return target;
        }
        SharedRead read = new SharedRead(request, stamp, stampOfEverything, target);
        inFlight.put(request, read);
        return read;
    }

    /** A read in flight. Confined to the event loop. */
    private final class SharedRead implements ReplyTarget {
        private final ByteBuf request;
        private final long stamp;
        private final long stampOfEverything;
        private final ReplyTarget leader;
        private final List<ReplyTarget> followers = new ArrayList<>(0);

        SharedRead(ByteBuf request, long stamp, long stampOfEverything, ReplyTarget leader) {
            this.request = request;
            this.stamp = stamp;
            this.stampOfEverything = stampOfEverything;
            this.leader = leader;
        }

        @Override
        public void accept(ByteBuf reply) {
            @Nullable
            SharedRead current = inFlight.get(request);
            if (current == this) {
                inFlight.remove(request);
            }
            for (ReplyTarget follower : followers) {
                follower.accept(reply.retainedDuplicate());
            }
            leader.accept(reply);
        }
    }
}
