package io.varve.server.command.session;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

import io.varve.server.pubsub.Subscriptions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All connected clients, with connection counts. Thread-safe: a concurrent map and atomic counters. */
public final class Clients {
    private static final Logger LOG = LoggerFactory.getLogger(Clients.class);

    private final ConcurrentHashMap<Long, Client> byId = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();
    private final AtomicInteger connected = new AtomicInteger();
    private final AtomicLong received = new AtomicLong();
    private final AtomicLong rejected = new AtomicLong();
    private final AtomicLong overInputLimit = new AtomicLong();
    private final AtomicLong overOutputLimit = new AtomicLong();

    long nextId() {
        return ids.incrementAndGet();
    }

    /** Admits a connection, or counts the rejection if the limit is reached. */
    public boolean admit(long limit) {
        received.incrementAndGet();
        if (connected.incrementAndGet() > limit) {
            connected.decrementAndGet();
            rejected.incrementAndGet();
            return false;
        }
        return true;
    }

    /** Counts a connection that is rejected before admission. */
    public void refuse() {
        received.incrementAndGet();
        rejected.incrementAndGet();
    }

    /** Rejects an admitted connection and releases its slot. */
    public void reject() {
        connected.decrementAndGet();
        rejected.incrementAndGet();
    }

    /** Counts a client that is disconnected because its input exceeds client-query-buffer-limit. */
    public void countOverInputLimit() {
        overInputLimit.incrementAndGet();
    }

    /** Counts a client that is disconnected because its unread output exceeds client-output-buffer-limit. */
    public void countOverOutputLimit() {
        overOutputLimit.incrementAndGet();
    }

    public long overInputLimit() {
        return overInputLimit.get();
    }

    public long overOutputLimit() {
        return overOutputLimit.get();
    }

    public void add(Client client) {
        byId.put(client.id(), client);
    }

    /** Removes a client and releases its slot. Without effect if it is not listed. Any thread. */
    public void remove(Client client) {
        if (byId.remove(client.id()) != null) {
            connected.decrementAndGet();
        }
    }

    /** The client with this id; null if it is not connected. */
    public @Nullable Client find(long id) {
        return byId.get(id);
    }

    /** All clients in no order, without copying: for sums over thousands. */
    public Iterable<Client> unordered() {
        return byId.values();
    }

    /** All clients, oldest first. */
    public List<Client> all() {
        List<Client> clients = new ArrayList<>(byId.values());
        clients.sort(Comparator.comparingLong(Client::id));
        return clients;
    }

    /** Closes the connections of clients with matching subscriptions. Any thread. */
    public void killListeners(Predicate<Subscriptions> filter) {
        for (Client client : byId.values()) {
            if (!client.killed() && filter.test(client.subscriptions())) {
                LOG.warn("Connection {} is closed: no memory for its invalidation messages",
                        client.address());
                client.kill();
            }
        }
    }

    public int count() {
        return connected.get();
    }

    public long received() {
        return received.get();
    }

    public long rejected() {
        return rejected.get();
    }

    public void resetCounts() {
        received.set(0);
        rejected.set(0);
        overInputLimit.set(0);
        overOutputLimit.set(0);
    }
}
