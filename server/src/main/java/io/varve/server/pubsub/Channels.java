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

import io.varve.server.resp.ArgumentMemory;
import org.jspecify.annotations.Nullable;

/**
 * Who listens to which names, over all clients. Many threads: concurrent maps. Who publishes looks names up without a lock and leaves
 * letters in inboxes; each listener's event loop takes them out.
 *
 * <p>Letters of one publisher lie in an inbox in the order in which it has published them; those of two publishers in any order.
 */
public final class Channels {
    /** What {@link #publish} answers where the heap has no room for the message. */
    public static final int REFUSED = -1;
    /** A name in the registry, beside its bytes: the entry, the name, its recipients and their array. */
    private static final int NAME_HEAP_BYTES = 256;
    /** One who listens to it: an entry in the client's own map, a place in the array. */
    private static final int SUBSCRIPTION_HEAP_BYTES = 128;

    private final ConcurrentHashMap<Name, Recipients> channels = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Name, Recipients> patterns = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Name, Recipients> shardChannels = new ConcurrentHashMap<>();
    private final ArgumentMemory namesMemory;
    private final Backlog backlog;
    private final Monitors monitors;

    /**
     * @param namesMemory    what names and subscriptions are charged to
     * @param messagesMemory what messages are charged to until they are delivered
     * @param maxRunBytes    what messages that lie in runs may hold of maxmemory until they are delivered, before who publishes waits
     * @param linesMemory    what is told to monitors likewise
     */
    public Channels(ArgumentMemory namesMemory, ArgumentMemory messagesMemory, LongSupplier maxRunBytes,
            ArgumentMemory linesMemory) {
        this.namesMemory = namesMemory;
        backlog = new Backlog(messagesMemory, maxRunBytes);
        monitors = new Monitors(linesMemory);
    }

    /** Those who are told of every command. */
    public Monitors monitors() {
        return monitors;
    }

    private ConcurrentHashMap<Name, Recipients> of(Scope scope) {
        return switch (scope) {
            case CHANNEL -> channels;
            case PATTERN -> patterns;
            case SHARD_CHANNEL -> shardChannels;
        };
    }

    // --- publishing

    /**
     * Leaves a message for everyone who listens to the channel now, or to a pattern that matches it.
     *
     * @param scope   {@link Scope#CHANNEL} or {@link Scope#SHARD_CHANNEL}
     * @param matches whether a pattern matches the channel
     * @return how many times it is delivered; {@link #REFUSED}, and nobody gets it, if too many others are not delivered yet
     */
    public int publish(Scope scope, Name channel, Content content, Predicate<Name> matches) {
        Recipients direct = of(scope).get(channel);
        List<Recipients> all = new ArrayList<>();
        if (direct != null) {
            all.add(direct);
        }
        if (scope == Scope.CHANNEL) {
            for (Recipients pattern : patterns.values()) {
                if (matches.test(pattern.name())) {
                    all.add(pattern);
                }
            }
        }
        // Who they are is looked at once: others come and go.
        List<Subscriber[]> members = new ArrayList<>(all.size());
        long deliveries = 0;
        boolean isHeard = false;
        for (Recipients recipients : all) {
            Subscriber[] now = recipients.members();
            members.add(now);
            deliveries += now.length;
            isHeard = isHeard || isAnyThere(now);
        }
        if (!isHeard) {
            return 0;
        }
        Message message = Message.of(channel, direct == null ? null : direct.name(), content, deliveries,
                backlog);
        if (message == null) {
            return REFUSED;
        }
        int delivered = 0;
        for (int i = 0; i < all.size(); i++) {
            delivered += deliver(new Letter(message, all.get(i)), members.get(i));
        }
        return delivered;
    }

    /** Whether one of them is not cut off. */
    private static boolean isAnyThere(Subscriber[] members) {
        for (Subscriber member : members) {
            if (!member.isCutOff()) {
                return true;
            }
        }
        return false;
    }

    private static int deliver(Letter letter, Subscriber[] members) {
        int delivered = 0;
        for (Subscriber subscriber : members) {
            if (subscriber.deliver(letter)) {
                delivered++;
            } else {
                letter.message().delivered();
            }
        }
        return delivered;
    }

    /** Whether anybody listens to any channel, or to a pattern of channels. */
    public boolean isAnyListenedTo() {
        return !channels.isEmpty() || !patterns.isEmpty();
    }

    /** Whether so much is not delivered yet that who publishes is to wait. */
    public boolean areBehind() {
        return backlog.isLong();
    }

    /** Has something run once, by any thread, when what was behind has been delivered. */
    public void whenDelivered(Runnable wake) {
        backlog.whenShort(wake);
    }

    // --- what there is

    /** How many names somebody listens to. */
    public int count(Scope scope) {
        return of(scope).size();
    }

    /** How many clients listen to this name. */
    public int listeners(Scope scope, Name name) {
        Recipients recipients = of(scope).get(name);
        return recipients == null ? 0 : recipients.members().length;
    }

    /** The names that somebody listens to, with bytes of their own, in no order: a view that goes with the time. */
    public Collection<Name> names(Scope scope) {
        return Collections.unmodifiableSet(of(scope).keySet());
    }

    /** Bytes of the heap that messages hold, and lines for monitors, which are not delivered yet. */
    public long undeliveredBytes() {
        return backlog.takenBytes() + monitors.undeliveredBytes();
    }

    /**
     * Who listens to certain names at this moment: whoever has begun to before is there.
     *
     * @param names tells whether a name, which has bytes of its own, is one of them
     * @return tells whether a client is one who listens to any of them
     */
    public Predicate<Subscriptions> listenersTo(BiPredicate<Scope, Name> names) {
        Set<Subscriber> listeners = new HashSet<>();
        for (Scope scope : Scope.values()) {
            of(scope).forEach((name, recipients) -> {
                if (names.test(scope, name)) {
                    Collections.addAll(listeners, recipients.members());
                }
            });
        }
        return client -> client.isAmong(listeners);
    }

    // --- coming and going

    /**
     * From now on the subscriber, who does not yet, listens to the name.
     *
     * @return null if the heap has no room for it; else what {@link #leave} and {@link #forget} are to be told
     */
    @Nullable
    Recipients join(Scope scope, Name name, Subscriber subscriber) {
        if (!namesMemory.take(SUBSCRIPTION_HEAP_BYTES)) {
            return null;
        }
        Recipients joined = of(scope).computeIfPresent(name, (_, there) -> there.joinedBy(subscriber));
        if (joined == null) {
            joined = joinNew(scope, name, subscriber);
        }
        if (joined == null) {
            namesMemory.give(SUBSCRIPTION_HEAP_BYTES);
        }
        return joined;
    }

    private @Nullable Recipients joinNew(Scope scope, Name name, Subscriber subscriber) {
        if (!namesMemory.takePiece(heapBytes(name))) {
            return null;
        }
        Recipients fresh = new Recipients(scope, name.kept());
        Recipients joined = of(scope).compute(fresh.name(),
                (_, there) -> (there == null ? fresh : there).joinedBy(subscriber));
        if (joined != fresh) {
            // Somebody else has brought the name meanwhile.
            namesMemory.give(heapBytes(name));
        }
        return joined;
    }

    /** No message that is published from now on is left for the subscriber for the sake of this name. Without effect the second time. */
    void leave(Recipients joined, Subscriber subscriber) {
        of(joined.scope()).computeIfPresent(joined.name(), (name, there) -> {
            if (there.leftBy(subscriber)) {
                namesMemory.give(heapBytes(name));
                return null;
            }
            return there;
        });
    }

    /** The subscriber has left, and its own map too knows the name no more: once for each {@link #join}. */
    void forget() {
        namesMemory.give(SUBSCRIPTION_HEAP_BYTES);
    }

    private static long heapBytes(Name name) {
        return NAME_HEAP_BYTES + (long) name.length();
    }
}
