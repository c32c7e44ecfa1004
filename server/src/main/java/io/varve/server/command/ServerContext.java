package io.varve.server.command;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.varve.memory.Cache;
import io.varve.memory.CacheConfig;
import io.varve.memory.item.Ticker;
import io.varve.server.admin.ErrorCounts;
import io.varve.server.admin.LatencyMonitor;
import io.varve.server.admin.LoopCounters;
import io.varve.server.admin.SlowLog;
import io.varve.server.config.ServerConfig;

/**
 * What all commands share beside the keys: configuration, clients, counters, logs. Many threads: every part guards
 * itself; the configuration is replaced as a whole.
 */
public final class ServerContext {
    private final Cache cache;
    private final Ticker ticker;
    private final Clients clients = new Clients();
    private final SlowLog slowLog = new SlowLog();
    private final LatencyMonitor latencies = new LatencyMonitor();
    private final ErrorCounts errors = new ErrorCounts();
    private final List<LoopCounters> loops = new CopyOnWriteArrayList<>();
    private final AtomicInteger counterEpoch = new AtomicInteger();
    private final long startedMillis;
    private final long startedNanos;
    private final String runId;
    private final Consumer<String> shutdown;
    private volatile ServerConfig config;
    private volatile boolean activeExpire = true;
    private volatile int port;
    private volatile String transport = "";
    private volatile long lastSaveSeconds;

    /**
     * @param shutdown asked to end the process, with the reason; returns at once
     */
    public ServerContext(Cache cache, ServerConfig config, Ticker ticker, Consumer<String> shutdown) {
        this.cache = cache;
        this.config = config;
        this.ticker = ticker;
        this.shutdown = shutdown;
        startedMillis = ticker.wallMillis();
        startedNanos = ticker.nanoTime();
        lastSaveSeconds = startedMillis / 1000;
        byte[] id = new byte[20];
        new SecureRandom().nextBytes(id);
        runId = HexFormat.of().formatHex(id);
    }

    public Cache cache() {
        return cache;
    }

    public Ticker ticker() {
        return ticker;
    }

    public Clients clients() {
        return clients;
    }

    public SlowLog slowLog() {
        return slowLog;
    }

    public LatencyMonitor latencies() {
        return latencies;
    }

    public ErrorCounts errors() {
        return errors;
    }

    public List<LoopCounters> loops() {
        return loops;
    }

    LoopCounters newLoop(int commandCount) {
        LoopCounters counters = new LoopCounters(commandCount);
        loops.add(counters);
        return counters;
    }

    /** Grows with CONFIG RESETSTAT: counters of another epoch are zero. */
    public int counterEpoch() {
        return counterEpoch.get();
    }

    /** CONFIG RESETSTAT. */
    void resetStats() {
        counterEpoch.incrementAndGet();
        errors.reset();
        clients.resetCounts();
        cache.resetStats();
    }

    public ServerConfig config() {
        return config;
    }

    /** Takes a changed configuration over, and hands the cache its part. */
    synchronized void config(ServerConfig changed) {
        CacheConfig cacheConfig = changed.cacheConfig().withActiveExpire(activeExpire)
                .withHashSeed(cache.config().hashSeed()).withTicker(cache.config().ticker());
        cache.reconfigure(cacheConfig);
        config = changed;
    }

    synchronized void activeExpire(boolean active) {
        activeExpire = active;
        cache.reconfigure(cache.config().withActiveExpire(active));
    }

    public long startedMillis() {
        return startedMillis;
    }

    public long uptimeSeconds() {
        return (ticker.nanoTime() - startedNanos) / 1_000_000_000L;
    }

    /** 40 hexadecimal digits, new at each start. */
    public String runId() {
        return runId;
    }

    /** The port that is listened on. */
    public int port() {
        return port;
    }

    public void port(int value) {
        port = value;
    }

    /** epoll, io_uring or nio. */
    public String transport() {
        return transport;
    }

    public void transport(String value) {
        transport = value;
    }

    long lastSaveSeconds() {
        return lastSaveSeconds;
    }

    void saved() {
        lastSaveSeconds = ticker.wallMillis() / 1000;
    }

    void shutdown(String reason) {
        shutdown.accept(reason);
    }

    /** A fresh client for a connection that was admitted. */
    public Client connect(Connection connection, String address, String localAddress) {
        Client client = new Client(clients.nextId(), connection, address, localAddress, ticker.wallMillis());
        client.authenticated(config.password().isEmpty());
        clients.add(client);
        return client;
    }
}
