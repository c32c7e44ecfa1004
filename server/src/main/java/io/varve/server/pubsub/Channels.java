package io.varve.server.pubsub;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import io.varve.server.resp.RequestHeapBudget;
import org.jspecify.annotations.Nullable;

/**
 * The registry of subscriptions, over all clients. Many threads: concurrent maps. Publishers look names up without a
 * lock and put messages into inboxes; each subscriber's event loop takes them out.
 *
 * <p>Messages of one publisher are in an inbox in the order in which it published them, those of two publishers in any
 * order.
 */
public final class Channels {
    /** The result of {@link #publish} if the heap budget is exhausted. */
    public static final int REFUSED = -1;
    /** Heap bytes of a name in the registry, beside its bytes: the entry, the name, its subscribers and their array. */
    private static final int NAME_HEAP_BYTES = 256;
    /** Heap bytes of a subscription: an entry in the client's own map, an element of the array. */
    private static final int SUBSCRIPTION_HEAP_BYTES = 128;

    private final ConcurrentHashMap<Name, Subscribers> channels = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Name, Subscribers> patterns = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Name, Subscribers> shardChannels = new ConcurrentHashMap<>();
    private final RequestHeapBudget namesMemory;
    private final UndeliveredBytes undelivered;
    private final Monitors monitors;

    /**
     * @param namesMemory budget of names and subscriptions
     * @param messagesMemory budget of undelivered messages
     * @param maxRunBytes maximum maxmemory bytes that undelivered messages in runs may hold before publishers wait
     * @param linesMemory budget of undelivered lines for monitors
     */
    public Channels(RequestHeapBudget namesMemory, RequestHeapBudget messagesMemory, LongSupplier maxRunBytes,
            RequestHeapBudget linesMemory) {
        this.namesMemory = namesMemory;
        undelivered = new UndeliveredBytes(messagesMemory, maxRunBytes);
        monitors = new Monitors(linesMemory);
    }

    /** The clients that receive every command. */
    public Monitors monitors() {
        return monitors;
    }

    private ConcurrentHashMap<Name, Subscribers> of(SubscriptionType scope) {
        return switch (scope) {
            case CHANNEL -> channels;
            case PATTERN -> patterns;
            case SHARD_CHANNEL -> shardChannels;
        };
    }

    // --- publishing

    /**
     * Queues a message for every current subscriber of the channel, or of a pattern that matches it.
     *
     * @param scope {@link SubscriptionType#CHANNEL} or {@link SubscriptionType#SHARD_CHANNEL}
     * @param matches whether a pattern matches the channel
     * @return the number of deliveries; {@link #REFUSED}, and there is none, if too many messages are undelivered
     */
    public int publish(SubscriptionType scope, Name channel, Content content, Predicate<Name> matches) {
        Subscribers direct = of(scope).get(channel);
        List<Subscribers> all = new ArrayList<>();
        if (direct != null) {
            all.add(direct);
        }
        if (scope == SubscriptionType.CHANNEL) {
            for (Subscribers pattern : patterns.values()) {
                if (matches.test(pattern.name())) {
                    all.add(pattern);
                }
            }
        }
        // The arrays are read once: subscribers come and go concurrently.
        List<Subscriber[]> members = new ArrayList<>(all.size());
        long deliveries = 0;
        boolean hasMembers = false;
        for (Subscribers subscribers : all) {
            Subscriber[] now = subscribers.members();
            members.add(now);
            deliveries += now.length;
            hasMembers = hasMembers || isAnyThere(now);
        }
        if (!hasMembers) {
            return 0;
        }
        Message message = Message.of(channel, direct == null ? null : direct.name(), content, deliveries,
                undelivered);
        if (message == null) {
            return REFUSED;
        }
        int delivered = 0;
        for (int i = 0; i < all.size(); i++) {
            delivered += deliver(new Delivery(message, all.get(i)), members.get(i));
        }
        return delivered;
    }

    /** Whether one of them is not disconnected. */
    private static boolean isAnyThere(Subscriber[] members) {
        for (Subscriber member : members) {
            if (!member.isDisconnected()) {
                return true;
            }
        }
        return false;
    }

    private static int deliver(Delivery delivery, Subscriber[] members) {
        int delivered = 0;
        for (Subscriber subscriber : members) {
            if (subscriber.deliver(delivery)) {
                delivered++;
            } else {
                delivery.message().delivered();
            }
        }
        return delivered;
    }

    /** Ends all subscriptions to the matching shard channels; the event loops of their clients tell them. */
    public void endShardChannels(Predicate<Name> ended) {
        for (Subscribers subscribers : shardChannels.values()) {
            if (ended.test(subscribers.name())) {
                for (Subscriber subscriber : subscribers.members()) {
                    subscriber.deliver(new EndedSubscription(subscribers));
                }
            }
        }
    }

    /** Whether there is any subscription to a channel or to a pattern of channels. */
    public boolean hasSubscribers() {
        return !channels.isEmpty() || !patterns.isEmpty();
    }

    /** Whether so much is undelivered that publishers must wait. */
    public boolean isBacklogged() {
        return undelivered.isOverLimit();
    }

    /** Runs a callback once, on any thread, after enough messages have been delivered. */
    public void onDelivered(Runnable wake) {
        undelivered.onDrained(wake);
    }

    // --- registry queries

    /** Number of names with subscribers. */
    public int count(SubscriptionType scope) {
        return of(scope).size();
    }

    /** Number of subscribers of this name. */
    public int listeners(SubscriptionType scope, Name name) {
        Subscribers subscribers = of(scope).get(name);
        return subscribers == null ? 0 : subscribers.members().length;
    }

    /** The names with subscribers, with bytes of their own, unordered: a live view. */
    public Collection<Name> names(SubscriptionType scope) {
        return Collections.unmodifiableSet(of(scope).keySet());
    }

    /** Heap bytes of undelivered messages and of lines for monitors. */
    public long undeliveredBytes() {
        return undelivered.reservedBytes() + monitors.undeliveredBytes();
    }

    /**
     * The current subscribers of certain names, including all whose subscription began before the call.
     *
     * @param names whether a name, which has bytes of its own, is one of them
     * @return a predicate for clients that are subscribed to any of them
     */
    public Predicate<Subscriptions> listenersTo(BiPredicate<SubscriptionType, Name> names) {
        Set<Subscriber> listeners = new HashSet<>();
        for (SubscriptionType scope : SubscriptionType.values()) {
            of(scope).forEach((name, subscribers) -> {
                if (names.test(scope, name)) {
                    Collections.addAll(listeners, subscribers.members());
                }
            });
        }
        return client -> client.isAmong(listeners);
    }

    // --- subscriptions

    /**
     * Subscribes a subscriber that is not subscribed to the name yet.
     *
     * @return null if the heap budget is exhausted; else the argument of {@link #unsubscribe} and {@link #forget}
     */
    @Nullable
    Subscribers join(SubscriptionType scope, Name name, Subscriber subscriber) {
        if (!namesMemory.tryReserve(SUBSCRIPTION_HEAP_BYTES)) {
            return null;
        }
        Subscribers joined = of(scope).computeIfPresent(name, (_, there) -> there.add(subscriber));
        if (joined == null) {
            joined = joinNew(scope, name, subscriber);
        }
        if (joined == null) {
            namesMemory.release(SUBSCRIPTION_HEAP_BYTES);
        }
        return joined;
    }

    private @Nullable Subscribers joinNew(SubscriptionType scope, Name name, Subscriber subscriber) {
        if (!namesMemory.tryReservePiece(heapBytes(name))) {
            return null;
        }
        Subscribers fresh = new Subscribers(scope, name.copy());
        Subscribers joined = of(scope).compute(fresh.name(),
                (_, there) -> (there == null ? fresh : there).add(subscriber));
        if (joined != fresh) {
            // Another thread has registered the name meanwhile.
            namesMemory.release(heapBytes(name));
        }
        return joined;
    }

    /**
     * Ends a subscription: no message that is published later is queued for the subscriber because of this name. A
     * second call has no effect.
     */
    void unsubscribe(Subscribers joined, Subscriber subscriber) {
        of(joined.scope()).computeIfPresent(joined.name(), (name, there) -> {
            if (there.remove(subscriber)) {
                namesMemory.release(heapBytes(name));
                return null;
            }
            return there;
        });
    }

    /**
     * Releases the budget after the subscriber has left and removed the name from its own map: once for each {@link
     * #join}.
     */
    void forget() {
        namesMemory.release(SUBSCRIPTION_HEAP_BYTES);
    }

    private static long heapBytes(Name name) {
        return NAME_HEAP_BYTES + (long) name.length();
    }
}
