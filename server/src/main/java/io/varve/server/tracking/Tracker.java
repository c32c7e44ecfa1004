package io.varve.server.tracking;

import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.memory.item.Key;
import io.varve.server.pubsub.Mail;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.ReplyWriter;

/**
 * A client that caches what it reads. Single-writer its event loop, many readers; that everything is to be forgotten is noted by any
 * thread, in atomics.
 */
public final class Tracker {
    private final Tracking all;
    private final Subscriptions own;
    /** Of these options: what waits for the one who was told before is nobody else's. */
    private volatile Everything everything = new Everything();
    private volatile TrackingOptions options;
    private volatile boolean ended;
    private volatile boolean redirectionBroken;
    /** Whether CLIENT CACHING was called for the next command; its event loop's own. */
    private boolean caching;
    private long charged;

    Tracker(Tracking all, Subscriptions own, TrackingOptions options) {
        this.all = all;
        this.own = own;
        this.options = options;
    }

    /** What a client is told once for all keys: it waits in the inbox at most once, and needs no room. Many threads: an atomic. */
    private static final class Everything implements Mail {
        private static final int WIRE_BYTES = 32;

        private final AtomicBoolean waits = new AtomicBoolean();
        private volatile boolean redirected;

        @Override
        public long wireBytes() {
            return WIRE_BYTES;
        }

        @Override
        public boolean isWantedBy(Subscriptions client) {
            // ORDER: before it is written, so that what changes from now on is told anew.
            waits.set(false);
            return Invalidation.isHeardBy(client, redirected);
        }

        @Override
        public void writeTo(ReplyWriter reply) {
            Invalidation.writeHead(reply);
            reply.nil();
        }

        @Override
        public void delivered() {
            // Nothing was charged. It may have been dropped.
            waits.set(false);
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

    /** The client wants to be told no more. */
    void end() {
        ended = true;
    }

    boolean isEnded() {
        return ended;
    }

    /** Whether the client that is to be told in its place was not there when it was to be told. */
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

    /** So many bytes of the heap were taken for its wishes. */
    public void charge(long bytes) {
        charged += bytes;
    }

    /** Bytes of the heap that were taken for its wishes. */
    public long charged() {
        return charged;
    }

    /** A command has read a key, whose shard is locked. */
    public void hasRead(Key key) {
        TrackingOptions wishes = options;
        if (!wishes.broadcasts() && (wishes.optIn() ? caching : !wishes.optOut() || !caching)) {
            all.remember(this, key);
        }
    }

    /** Nothing that it has cached is to be relied on. */
    void forgetEverything(Subscriptions to) {
        Everything mail = everything;
        mail.redirected = !to.equals(own);
        if (!mail.waits.getAndSet(true) && !to.deliver(mail)) {
            mail.waits.set(false);
        }
    }
}
