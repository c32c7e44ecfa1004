package io.varve.proxy.client;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

import io.varve.proxy.map.HotKeyCopies;
import io.varve.proxy.map.SlotTable;
import io.varve.proxy.member.MemberHealths;
import io.varve.proxy.merge.WriteStamps;
import io.varve.proxy.route.RouteStatistics;
import io.varve.server.command.CommandTable;
import io.varve.server.resp.RequestHeapBudget;

/** What all event loops of a proxy share. Thread-safe. */
public final class ProxyState {
    /** The part of the heap for the arguments of giant requests. */
    private static final int HEAP_PART = 8;

    private final ClientSettings settings;
    private final CommandTable commands;
    private final CommandRoutes routes;
    private final MemberHealths healths = new MemberHealths();
    private final WriteStamps stamps = new WriteStamps();
    private final RouteStatistics routeStatistics = new RouteStatistics();
    private final RequestHeapBudget heap = RequestHeapBudget.ofHeapPart(HEAP_PART);
    private final AtomicLong clientIds = new AtomicLong();
    private final Map<Long, ClientConnection> clients = new ConcurrentHashMap<>();
    private final long startedNanos = System.nanoTime();
    final LongAdder acceptedClients = new LongAdder();
    final LongAdder refusedClients = new LongAdder();
    final LongAdder slowClients = new LongAdder();
    final LongAdder requests = new LongAdder();
    final LongAdder mergedReads = new LongAdder();
    final LongAdder splitRequests = new LongAdder();
    private volatile SlotTable table = SlotTable.EMPTY;
    private volatile HotKeyCopies copies = HotKeyCopies.NONE;
    private volatile int port;

    public ProxyState(ClientSettings settings, CommandTable commands) {
        this.settings = settings;
        this.commands = commands;
        routes = new CommandRoutes(commands);
    }

    public ClientSettings settings() {
        return settings;
    }

    CommandTable commands() {
        return commands;
    }

    CommandRoutes routes() {
        return routes;
    }

    public MemberHealths healths() {
        return healths;
    }

    WriteStamps stamps() {
        return stamps;
    }

    public RouteStatistics routeStatistics() {
        return routeStatistics;
    }

    RequestHeapBudget heap() {
        return heap;
    }

    /** The current map, for INFO; event loops route by their own. */
    SlotTable table() {
        return table;
    }

    public void table(SlotTable changed) {
        table = changed;
    }

    /** The keys that may be read from copies. */
    HotKeyCopies copies() {
        return copies;
    }

    public void copies(HotKeyCopies changed) {
        copies = changed;
    }

    int port() {
        return port;
    }

    public void port(int listening) {
        port = listening;
    }

    long uptimeSeconds() {
        return java.util.concurrent.TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedNanos);
    }

    long nextClientId() {
        return clientIds.incrementAndGet();
    }

    /** The connected clients by their number. */
    Map<Long, ClientConnection> clients() {
        return clients;
    }
}
