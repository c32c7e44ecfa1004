package io.varve.server.command;

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

/** All connected clients. Many threads: a concurrent map and atomic counters. */
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

    /** Takes a place, or counts the rejection if there is none. */
    public boolean admit(long limit) {
        received.incrementAndGet();
        if (connected.incrementAndGet() > limit) {
            connected.decrementAndGet();
            rejected.incrementAndGet();
            return false;
        }
        return true;
    }

    /** Counts one who is turned away before a place is asked for. */
    public void refuse() {
        received.incrementAndGet();
        rejected.incrementAndGet();
    }

    /** Gives the place back of one who was admitted and is not welcome. */
    public void turnAway() {
        connected.decrementAndGet();
        rejected.incrementAndGet();
    }

    /** Counts one that is disconnected because what it sent is over client-query-buffer-limit. */
    public void countOverInputLimit() {
        overInputLimit.incrementAndGet();
    }

    /** Counts one that is disconnected because what it does not read is over client-output-buffer-limit. */
    public void countOverOutputLimit() {
        overOutputLimit.incrementAndGet();
    }

    long overInputLimit() {
        return overInputLimit.get();
    }

    long overOutputLimit() {
        return overOutputLimit.get();
    }

    void add(Client client) {
        byId.put(client.id(), client);
    }

    /** It is not listed any more, and its place is free; nothing happens if it is not listed. Any thread. */
    public void remove(Client client) {
        if (byId.remove(client.id()) != null) {
            connected.decrementAndGet();
        }
    }

    /** The client with this number; null if it is not connected. */
    public @Nullable Client find(long id) {
        return byId.get(id);
    }

    /** In no order: for sums, as there may be thousands. */
    public Iterable<Client> unordered() {
        return byId.values();
    }

    /** Oldest first. */
    public List<Client> all() {
        List<Client> clients = new ArrayList<>(byId.values());
        clients.sort(Comparator.comparingLong(Client::id));
        return clients;
    }

    /** Ends the connections of those who listen to something. Any thread. */
    void killListeners(Predicate<Subscriptions> who) {
        for (Client client : byId.values()) {
            if (!client.killed() && who.test(client.subscriptions())) {
                LOG.warn("Connection {} is closed: there was no room for what it was to be told of keys",
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

    void resetCounts() {
        received.set(0);
        rejected.set(0);
        overInputLimit.set(0);
        overOutputLimit.set(0);
    }
}
