package io.varve.server.command;

import io.varve.memory.Cache;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.Clients;
import io.varve.server.command.spec.ChannelMatcher;
import io.varve.server.config.EventSelection;
import io.varve.server.config.ServerConfig;
import io.varve.server.events.KeyEvents;
import io.varve.server.pubsub.Channels;
import io.varve.server.resp.RequestHeapBudget;
import io.varve.server.tracking.Tracking;

/** Notifications for clients: messages, keyspace events, invalidations. Thread-safe: each part guards itself. */
public final class Notifications {
    /** Divisor of the heap for undelivered messages. */
    private static final int MESSAGES_PART_OF_HEAP = 8;
    /** Divisor of maxmemory for undelivered messages in runs; above it, publishers wait. */
    private static final int MESSAGES_PART_OF_MAXMEMORY = 8;
    /** Divisor of the heap for MONITOR lines. */
    private static final int LINES_PART_OF_HEAP = 16;
    /** Divisor of the heap for tracked keys and their invalidation messages. */
    private static final int TRACKING_PART_OF_HEAP = 8;

    private final Channels channels;
    private final KeyEvents keyEvents;
    private final Tracking tracking;

    Notifications(Cache cache, Clients clients, RequestHeapBudget argumentMemory, ServerConfig config) {
        channels = new Channels(argumentMemory, RequestHeapBudget.ofHeapPart(MESSAGES_PART_OF_HEAP),
                () -> cache.config().maxMemoryBytes() / MESSAGES_PART_OF_MAXMEMORY,
                RequestHeapBudget.ofHeapPart(LINES_PART_OF_HEAP));
        keyEvents = new KeyEvents(cache, channels, new ChannelMatcher()::matches, argumentMemory,
                clients::killListeners);
        tracking = new Tracking(cache, RequestHeapBudget.ofHeapPart(TRACKING_PART_OF_HEAP), id -> {
            Client client = clients.find(id);
            return client == null ? null : client.subscriptions();
        }, config.number("tracking-table-max-keys"));
        keyEvents.select(EventSelection.parse(config.text("notify-keyspace-events")));
    }

    /** The heap that messages, lines and tracked keys may take, in bytes. */
    static long heapBytes() {
        return RequestHeapBudget.heapPartBytes(MESSAGES_PART_OF_HEAP)
                + RequestHeapBudget.heapPartBytes(LINES_PART_OF_HEAP)
                + RequestHeapBudget.heapPartBytes(TRACKING_PART_OF_HEAP);
    }

    /** Applies a changed configuration. */
    void config(ServerConfig changed) {
        keyEvents.select(EventSelection.parse(changed.text("notify-keyspace-events")));
        tracking.maxKeys(changed.number("tracking-table-max-keys"));
    }

    /** The subscriptions of all channels. */
    public Channels channels() {
        return channels;
    }

    /** The publisher of keyspace events. */
    public KeyEvents keyEvents() {
        return keyEvents;
    }

    /** The client-side caching state. */
    public Tracking tracking() {
        return tracking;
    }

    /** Delivers recorded keyspace events and invalidations to clients. Call without locks, on any thread. */
    public void flush() {
        keyEvents.publish();
        tracking.flushNotifications();
    }

    /** Periodic housekeeping for notification subscribers. Call without locks, on one thread. */
    public void maintain() {
        keyEvents.publish();
        tracking.maintain();
    }
}
