package io.varve.server.command;

import java.util.function.Supplier;

import io.varve.memory.Cache;
import io.varve.memory.item.Ticker;
import io.varve.server.acl.AccessControl;
import io.varve.server.acl.Account;
import io.varve.server.admin.ClientTotals;
import io.varve.server.blocking.BlockedClient;
import io.varve.server.blocking.BlockedKeys;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.Clients;
import io.varve.server.command.session.Connection;
import io.varve.server.command.session.CrossProtocolGuard;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.session.Watch;
import io.varve.server.command.session.WatchedKeys;
import io.varve.server.config.ServerConfig;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.RequestHeapBudget;
import io.varve.server.resp.ServedReply;
import io.varve.server.tracking.Tracker;
import org.jspecify.annotations.Nullable;

/** The clients from connect to disconnect, and the end of their waits. Thread-safe, except where a method says so. */
public final class ClientLifecycle {
    private final Clients clients;
    private final WatchedKeys watchedKeys;
    private final BlockedKeys blockedKeys;
    private final Notifications notifications;
    private final RequestHeapBudget argumentMemory;
    private final Ticker ticker;
    private final Supplier<ServerConfig> config;
    private final Supplier<AccessControl> access;
    private final CrossProtocolGuard crossProtocolGuard = new CrossProtocolGuard();

    /** @param hasFlash whether there is a flash tier */
    ClientLifecycle(Clients clients, Cache cache, boolean hasFlash, BlockedKeys blockedKeys,
            Notifications notifications, RequestHeapBudget argumentMemory, Ticker ticker,
            Supplier<ServerConfig> config, Supplier<AccessControl> access) {
        this.clients = clients;
        watchedKeys = new WatchedKeys(cache, hasFlash);
        this.blockedKeys = blockedKeys;
        this.notifications = notifications;
        this.argumentMemory = argumentMemory;
        this.ticker = ticker;
        this.config = config;
        this.access = access;
    }

    public Clients clients() {
        return clients;
    }

    /** Maximum number of clients: {@code maxclients}, or fewer if the heap is too small. */
    public long maxClients() {
        return Math.min(config.get().number("maxclients"), RequestHeapBudget.maxConnections());
    }

    /** The detector of HTTP requests. */
    public CrossProtocolGuard crossProtocolGuard() {
        return crossProtocolGuard;
    }

    /** Creates the client of an admitted connection. */
    public Client connect(Connection connection, String address, String localAddress) {
        Client client = new Client(clients, connection, address, localAddress, ticker.wallMillis(),
                new Watch(watchedKeys, argumentMemory),
                new Subscriptions(notifications.channels(), connection::onMessages), access.get().defaultAccount());
        clients.add(client);
        return client;
    }

    /** Creates a client that no other one sees: it runs the commands of the log again. */
    public Client internal(Connection connection, Account account) {
        return new Client(clients, connection, "", "", ticker.wallMillis(), new Watch(watchedKeys, argumentMemory),
                new Subscriptions(notifications.channels(), connection::onMessages), account);
    }

    /** Removes a client whose connection has ended. On its event loop. */
    public void disconnect(Client client) {
        clients.remove(client);
        stopWaiting(client);
        client.endTransaction();
        stopTracking(client);
        client.subscriptions().end();
    }

    /** Ends the client's wait for keys, if it waits. On its event loop. */
    public void stopWaiting(Client client) {
        ServedReply unsent = endWait(client);
        if (unsent != null) {
            unsent.release();
        }
    }

    /**
     * Ends the client's wait for keys, if it waits. On its event loop.
     *
     * @return the reply of a served client that has not been written yet, or null; the caller writes or releases it
     */
    public @Nullable ServedReply endWait(Client client) {
        BlockedClient blocked = client.waitState().blockedClient();
        if (blocked == null) {
            return null;
        }
        client.waitState().blockedClient(null);
        blockedKeys.remove(blocked);
        argumentMemory.release(blocked.heapBytes());
        return client.waitState().takeServedReply();
    }

    /** Stops tracking for the client. On its event loop. */
    public void stopTracking(Client client) {
        Tracker tracker = client.tracker();
        if (tracker != null) {
            client.tracker(null);
            notifications.tracking().end(tracker);
            argumentMemory.release(tracker.charged());
        }
    }

    /** Sums over all clients; walks over all of them. */
    ClientTotals totals() {
        int waiting = 0;
        int limited = 0;
        long bufferBytes = 0;
        long largestInput = 0;
        long largestOutput = 0;
        int watching = 0;
        int listening = 0;
        for (Client client : clients.unordered()) {
            Connection connection = client.connection();
            ParkedCommand parked = client.waitState().parkedCommand();
            if (parked != null && parked.isVisible() && !parked.answered()) {
                waiting++;
                limited += parked.timeoutMillis() > 0 ? 1 : 0;
            }
            watching += client.watch().keyCount() > 0 ? 1 : 0;
            listening += client.isListening() ? 1 : 0;
            long outgoing = client.outgoingBytes();
            bufferBytes += connection.incomingCapacityBytes() + outgoing;
            largestInput = Math.max(largestInput, connection.incomingBytes());
            largestOutput = Math.max(largestOutput, outgoing);
        }
        return new ClientTotals(waiting, limited, blockedKeys.keyCount(), bufferBytes, largestInput, largestOutput,
                watching, listening, watchedKeys.total());
    }
}
