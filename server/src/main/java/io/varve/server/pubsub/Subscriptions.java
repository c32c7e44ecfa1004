package io.varve.server.pubsub;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions of one client, and its waiting messages. Confined to its event loop, except its counters, which any
 * thread may read.
 *
 * <p>A subscription ends in two steps, so that messages published before it still arrive. First {@link #unsubscribe}:
 * no further message is queued for the client. When the queued ones have been written, {@link #remove} drops any that
 * are still in transit.
 */
public final class Subscriptions {
    /**
     * The numbers of a client's subscriptions. Immutable.
     *
     * @param channels the channels by name
     * @param patterns patterns of names
     * @param shardChannels the shard channels by name
     */
    public record Counts(int channels, int patterns, int shardChannels) {
        static final Counts NONE = new Counts(0, 0, 0);
    }

    private final Channels channels;
    private final Runnable onMessages;
    private final Map<SubscriptionType, Map<Name, Subscribers>> byScope = new EnumMap<>(SubscriptionType.class);
    private volatile Counts counts = Counts.NONE;
    private volatile boolean listening;
    private volatile boolean tracking;
    private volatile boolean expectsMessages;
    /**
     * Whether it has received messages that it neither subscribed to nor tracks: another client's, redirected to it.
     * Guarded by {@code this}.
     */
    private boolean addressed;
    private volatile boolean supportsPushes;
    private volatile boolean ended;
    /** Created with the first subscription: most clients never have one. */
    private volatile @Nullable Subscriber subscriber;
    private volatile boolean monitoring;

    /** @param onMessages wakes the client's event loop when messages wait; any thread runs it, so it must not block */
    public Subscriptions(Channels channels, Runnable onMessages) {
        this.channels = channels;
        this.onMessages = onMessages;
    }

    // --- subscriptions

    /**
     * Subscribes to a name.
     *
     * @return false if the heap budget is exhausted
     */
    public boolean add(SubscriptionType scope, Name name) {
        Map<Name, Subscribers> mine = byScope.computeIfAbsent(scope, _ -> new LinkedHashMap<>());
        if (mine.containsKey(name)) {
            return true;
        }
        Subscribers joined = channels.join(scope, name, subscriber());
        if (joined == null) {
            return false;
        }
        mine.put(joined.name(), joined);
        count();
        return true;
    }

    private Subscriber subscriber() {
        Subscriber mine = subscriber;
        return mine == null ? firstSubscriber() : mine;
    }

    /** Created by its event loop, or by the thread with the first message for it. */
    private synchronized Subscriber firstSubscriber() {
        Subscriber mine = subscriber;
        if (mine == null) {
            mine = new Subscriber(onMessages);
            if (ended) {
                mine.inbox().close();
            }
            subscriber = mine;
        }
        return mine;
    }

    /**
     * Queues a message for the client. Any thread may call it.
     *
     * @return false if the client has disconnected or is cut off: the message still belongs to the caller
     */
    public boolean deliver(OutboundMessage message) {
        if (!expectsMessages) {
            // Set before the message is queued: the event loop reads the inbox before the next reply.
            addressed();
        }
        return subscriber().deliver(message);
    }

    private synchronized void addressed() {
        addressed = true;
        expectsMessages = true;
    }

    private synchronized void updateExpectsMessages() {
        expectsMessages = listening || tracking || addressed;
    }

    /**
     * Ends the queueing of messages because of this name, if the client is subscribed to it; queued ones are still
     * written.
     */
    public void unsubscribe(SubscriptionType scope, Name name) {
        Subscribers joined = of(scope).get(name);
        if (joined != null) {
            channels.unsubscribe(joined, subscriber());
        }
    }

    /** Removes a name that the client has left. */
    public void remove(SubscriptionType scope, Name name) {
        Map<Name, Subscribers> mine = byScope.get(scope);
        if (mine != null && mine.remove(name) != null) {
            channels.forget();
            count();
        }
    }

    /** Starts to send every command to the client. */
    public void monitor() {
        if (!monitoring) {
            monitoring = true;
            channels.monitors().join(subscriber());
        }
    }

    /** Whether the client receives every command. */
    public boolean isMonitoring() {
        return monitoring;
    }

    /** Ends all subscriptions and monitoring. Queued messages are dropped when they would be written. */
    public void clear() {
        if (monitoring) {
            monitoring = false;
            channels.monitors().remove(subscriber());
        }
        for (SubscriptionType scope : SubscriptionType.values()) {
            for (Name name : names(scope)) {
                unsubscribe(scope, name);
                remove(scope, name);
            }
        }
    }

    /** Cuts the client off: no further message reaches it, not even a queued one. Any thread may call it. */
    public void disconnect() {
        Subscriber mine = subscriber;
        if (mine != null) {
            mine.disconnect();
        }
    }

    /** Ends everything because the client has disconnected. */
    public void end() {
        clear();
        Subscriber mine;
        synchronized (this) {
            ended = true;
            mine = subscriber;
        }
        if (mine != null) {
            mine.inbox().close();
        }
    }

    /** Its subscriptions, in subscription order: a copy. */
    public List<Name> names(SubscriptionType scope) {
        return new ArrayList<>(of(scope).keySet());
    }

    private Map<Name, Subscribers> of(SubscriptionType scope) {
        return byScope.getOrDefault(scope, Map.of());
    }

    private void count() {
        Counts now = new Counts(of(SubscriptionType.CHANNEL).size(), of(SubscriptionType.PATTERN).size(),
                of(SubscriptionType.SHARD_CHANNEL).size());
        counts = now;
        listening = !now.equals(Counts.NONE);
        updateExpectsMessages();
    }

    /** Sets whether the client uses client-side caching. */
    public void tracks(boolean value) {
        tracking = value;
        updateExpectsMessages();
    }

    /** Sets whether its protocol distinguishes pushes from replies. */
    public void supportsPushes(boolean value) {
        supportsPushes = value;
    }

    public boolean supportsPushes() {
        return supportsPushes;
    }

    /** Whether messages that were sent before one of its commands runs must be written before the reply. */
    public boolean expectsMessages() {
        return expectsMessages;
    }

    /** Whether it is one of these. Any thread may call it. */
    boolean isAmong(Set<Subscriber> subscribers) {
        Subscriber mine = subscriber;
        return mine != null && subscribers.contains(mine);
    }

    // --- counters: may be read by any thread

    /** The numbers of its subscriptions. */
    public Counts counts() {
        return counts;
    }

    /** The number in a confirmation: channels and patterns are counted together, shard channels separately. */
    public int confirmedCount(SubscriptionType scope) {
        Counts now = counts;
        return scope == SubscriptionType.SHARD_CHANNEL ? now.shardChannels() : now.channels() + now.patterns();
    }

    /** Whether it has any subscription. */
    public boolean isListening() {
        return listening;
    }

    /** Approximate wire size of its queued messages. */
    public long waitingBytes() {
        Subscriber mine = subscriber;
        return mine == null ? 0 : mine.inbox().bytes();
    }

    // --- messages

    /** Whether messages are queued. */
    public boolean hasPendingMessages() {
        Subscriber mine = subscriber;
        return mine != null && !mine.inbox().isEmpty();
    }

    /** Called before queued messages are written: the next message to arrive wakes the event loop again. */
    public void beginDelivery() {
        Subscriber mine = subscriber;
        if (mine != null) {
            mine.inbox().beginRead();
        }
    }

    /**
     * Writes the next message; drops those before it whose subscription has ended.
     *
     * @return whether there was one
     * @throws NoBufferException if there is no memory for it: it stays queued, and no part of it has been written
     */
    public boolean writeNext(ReplyWriter reply) {
        Subscriber mine = subscriber;
        if (mine == null) {
            return false;
        }
        Inbox inbox = mine.inbox();
        for (OutboundMessage next = inbox.first(); next != null; next = inbox.first()) {
            boolean wanted = !mine.isDisconnected() && next.isDeliverableTo(this);
            if (wanted) {
                write(next, reply);
            }
            inbox.dropFirst();
            if (wanted) {
                return true;
            }
        }
        return false;
    }

    /** Whether it is subscribed to the name through which a message was delivered. */
    boolean isTo(Subscribers to) {
        return of(to.scope()).containsKey(to.name());
    }

    private void write(OutboundMessage message, ReplyWriter reply) {
        long mark = reply.mark();
        try {
            message.writeTo(reply, this);
        } catch (NoBufferException none) {
            reply.rollback(mark);
            throw none;
        }
    }

    /** Writes all messages, as {@link #writeNext} writes one. */
    public void writeAll(ReplyWriter reply) {
        boolean more = true;
        while (more) {
            more = writeNext(reply);
        }
    }
}
