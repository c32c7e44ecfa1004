package io.varve.server.tracking;

import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.memory.item.Key;
import io.varve.server.pubsub.OutboundMessage;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.ReplyWriter;

/**
 * A client that uses client-side caching. Single writer its event loop, many readers; any thread may set, atomically,
 * that the client must invalidate everything.
 */
public final class Tracker {
    private final Tracking all;
    private final Subscriptions own;
    /** The message of the current options: an unread one of earlier options does not count. */
    private volatile Everything everything = new Everything();
    private volatile TrackingOptions options;
    private volatile boolean ended;
    private volatile boolean redirectionBroken;
    /** Whether CLIENT CACHING was called for the next command; confined to its event loop. */
    private boolean caching;
    private long charged;

    Tracker(Tracking all, Subscriptions own, TrackingOptions options) {
        this.all = all;
        this.own = own;
        this.options = options;
    }

    /**
     * The invalidation of all keys: it is in the inbox at most once, and needs no reservation. Many threads: an atomic.
     */
    private static final class Everything implements OutboundMessage {
        private static final int WIRE_BYTES = 32;

        private final AtomicBoolean queued = new AtomicBoolean();
        private volatile boolean redirected;

        @Override
        public long wireBytes() {
            return WIRE_BYTES;
        }

        @Override
        public boolean isDeliverableTo(Subscriptions client) {
            // ORDER: reset before it is written, so that later changes cause a new message.
            queued.set(false);
            return Invalidation.isReceivedBy(client, redirected);
        }

        @Override
        public void writeTo(ReplyWriter reply) {
            Invalidation.writeHead(reply);
            reply.nil();
        }

        @Override
        public void delivered() {
            // Nothing was charged. The message may have been dropped.
            queued.set(false);
        }
    }

    public TrackingOptions options() {
        return options;
    }

    void options(TrackingOptions changed) {
        options = changed;
        everything = new Everything();
        redirectionBroken = false;
    }

    Subscriptions own() {
        return own;
    }

    /** Ends tracking. */
    void end() {
        ended = true;
    }

    boolean isEnded() {
        return ended;
    }

    /** Whether the redirection target was absent when it should have received an invalidation. */
    public boolean isRedirectionBroken() {
        return redirectionBroken;
    }

    void breakRedirection() {
        redirectionBroken = true;
    }

    /** Whether CLIENT CACHING was called for the next command. */
    public boolean isCaching() {
        return caching;
    }

    public void caching(boolean value) {
        caching = value;
    }

    /** Records heap bytes that were reserved for its options. */
    public void charge(long bytes) {
        charged += bytes;
    }

    /** Heap bytes that were reserved for its options. */
    public long charged() {
        return charged;
    }

    /** Called after a command has read a key, whose shard is locked. */
    public void hasRead(Key key) {
        TrackingOptions wishes = options;
        if (!wishes.broadcasts() && (wishes.optIn() ? caching : !wishes.optOut() || !caching)) {
            all.remember(this, key);
        }
    }

    /** Invalidates everything that it has cached. */
    void forgetEverything(Subscriptions to) {
        Everything message = everything;
        message.redirected = !to.equals(own);
        if (!message.queued.getAndSet(true) && !to.deliver(message)) {
            message.queued.set(false);
        }
    }
}
