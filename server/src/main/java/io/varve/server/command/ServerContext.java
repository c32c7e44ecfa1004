package io.varve.server.command;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.Cache;
import io.varve.memory.CacheConfig;
import io.varve.memory.item.Ticker;
import io.varve.server.acl.AccessControl;
import io.varve.server.acl.Denial;
import io.varve.server.admin.ClientTotals;
import io.varve.server.admin.ErrorCounts;
import io.varve.server.admin.HiccupMeter;
import io.varve.server.admin.InfoReport;
import io.varve.server.admin.InfoSource;
import io.varve.server.admin.LatencyMonitor;
import io.varve.server.admin.LogLevel;
import io.varve.server.admin.LoopCounters;
import io.varve.server.admin.SlowLog;
import io.varve.server.admin.TrackingTotals;
import io.varve.server.admin.UnknownCommands;
import io.varve.server.blocking.BlockedKeys;
import io.varve.server.blocking.Pass;
import io.varve.server.blocking.Waiter;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.config.ConfigException;
import io.varve.server.config.EventSelection;
import io.varve.server.config.ServerConfig;
import io.varve.server.events.KeyEvents;
import io.varve.server.pubsub.Channels;
import io.varve.server.pubsub.Scope;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.ArgumentMemory;
import io.varve.server.system.TimeSlice;
import io.varve.server.tracking.Tracker;
import io.varve.server.tracking.Tracking;
import org.jspecify.annotations.Nullable;

/**
 * What all commands share beside the keys: configuration, clients, counters, logs. Many threads: every part guards
 * itself; the configuration is replaced as a whole.
 */
public final class ServerContext implements InfoSource {
    /** Messages that are not delivered yet may take one part of so many. */
    private static final int MESSAGES_PART_OF_HEAP = 8;
    /** Those that lie in runs may take one part of so many of maxmemory before who publishes waits. */
    private static final int MESSAGES_PART_OF_MAXMEMORY = 8;
    /** And what monitors are told, one part of so many. */
    private static final int LINES_PART_OF_HEAP = 16;
    /** And the keys that clients may have cached, with what these are told of them. */
    private static final int TRACKING_PART_OF_HEAP = 8;

    private final Cache cache;
    private final @Nullable FlashTier flash;
    private final Ticker ticker;
    private final Clients clients = new Clients();
    private final WatchedKeys watchedKeys;
    private final BlockedKeys blockedKeys;
    private final SlowLog slowLog = new SlowLog();
    private final LatencyMonitor latencies = new LatencyMonitor();
    private final HiccupMeter hiccups;
    private final ErrorCounts errors = new ErrorCounts();
    private final UnknownCommands unknownCommands = new UnknownCommands();
    private final CrossProtocolGuard crossProtocolGuard = new CrossProtocolGuard();
    private final ArgumentMemory argumentMemory;
    private final Channels channels;
    private final KeyEvents keyEvents;
    private final Tracking tracking;
    private final List<LoopCounters> loops = new CopyOnWriteArrayList<>();
    private final AtomicInteger counterEpoch = new AtomicInteger();
    private volatile long changesAtSave;
    private final long startedMillis;
    private final long startedNanos;
    private final String runId;
    private final Consumer<String> shutdown;
    private volatile ServerConfig config;
    private volatile boolean activeExpire = true;
    private volatile int port;
    private volatile List<String> listeners = List.of();
    private volatile String transport = "";
    private volatile long lastSaveSeconds;
    private volatile CommandTable commands = CommandTable.builder().build();
    private volatile List<String> commandNames = List.of();
    private volatile AccessControl access;
    private final AccessGuard accessGuard = new AccessGuard(this);
    private final List<ConfigListener> configListeners = new CopyOnWriteArrayList<>();
    private final InfoReport report;

    /**
     * @param shutdown asked to end the process, with the reason; returns at once
     */
    public ServerContext(Cache cache, ServerConfig config, Ticker ticker, Consumer<String> shutdown) {
        this(cache, null, config, ticker, shutdown);
    }

    /** @param flash the tier below the cache; null if there is none */
    public ServerContext(Cache cache, @Nullable FlashTier flash, ServerConfig config, Ticker ticker,
            Consumer<String> shutdown) {
        this.cache = cache;
        watchedKeys = new WatchedKeys(cache, flash != null);
        blockedKeys = new BlockedKeys(cache, flash != null);
        this.flash = flash;
        long ofFlash = flash == null ? 0 : config.number("flash-cache-size") + 2 * config.number("flash-queue-size");
        argumentMemory = ArgumentMemory.ofHeapBeside(ofFlash + ArgumentMemory.heapPartBytes(MESSAGES_PART_OF_HEAP)
                + ArgumentMemory.heapPartBytes(LINES_PART_OF_HEAP)
                + ArgumentMemory.heapPartBytes(TRACKING_PART_OF_HEAP));
        channels = new Channels(argumentMemory, ArgumentMemory.ofHeapPart(MESSAGES_PART_OF_HEAP),
                () -> cache.config().maxMemoryBytes() / MESSAGES_PART_OF_MAXMEMORY,
                ArgumentMemory.ofHeapPart(LINES_PART_OF_HEAP));
        keyEvents = new KeyEvents(cache, channels, new ChannelMatcher()::matches, argumentMemory,
                clients::killListeners);
        keyEvents.select(EventSelection.parse(config.text("notify-keyspace-events")));
        tracking = new Tracking(cache, ArgumentMemory.ofHeapPart(TRACKING_PART_OF_HEAP), id -> {
            Client client = clients.find(id);
            return client == null ? null : client.subscriptions();
        }, config.number("tracking-table-max-keys"));
        this.config = config;
        access = AccessControl.open(new TableNames(commands), GlobPattern::matches, ServerConfig.defaults());
        this.hiccups = new HiccupMeter(new TimeSlice(config.number("io-thread-slice-us")));
        this.ticker = ticker;
        this.shutdown = shutdown;
        startedMillis = ticker.wallMillis();
        startedNanos = ticker.nanoTime();
        lastSaveSeconds = startedMillis / 1000;
        byte[] id = new byte[20];
        new SecureRandom().nextBytes(id);
        runId = HexFormat.of().formatHex(id);
        report = new InfoReport(this);
    }

    @Override
    public Cache cache() {
        return cache;
    }

    @Override
    public @Nullable FlashTier flash() {
        return flash;
    }

    public Ticker ticker() {
        return ticker;
    }

    /** How many clients there may be at a time: {@code maxclients}, or as many as the heap has room for. */
    public long mostClients() {
        return Math.min(config.number("maxclients"), ArgumentMemory.mostConnections());
    }

    /** What giant requests may take of the heap. */
    public ArgumentMemory argumentMemory() {
        return argumentMemory;
    }

    /** Who listens to what. */
    public Channels channels() {
        return channels;
    }

    /** What happens to keys and is told. */
    public KeyEvents keyEvents() {
        return keyEvents;
    }

    /** What clients have cached. */
    public Tracking tracking() {
        return tracking;
    }

    /** Tells clients what has happened and is noted. Without locks, any thread. */
    public void tell() {
        keyEvents.publish();
        tracking.tell();
    }

    /** What is to be done for those who are told, now and then. Without locks, one thread. */
    public void lookAfterTold() {
        keyEvents.publish();
        tracking.maintain();
    }

    /** The client is told of what it has cached no more. On its event loop. */
    public void stopTracking(Client client) {
        Tracker tracker = client.tracker();
        if (tracker != null) {
            client.tracker(null);
            tracking.end(tracker);
            argumentMemory.give(tracker.charged());
        }
    }

    /** What tells of requests that are HTTP. */
    public CrossProtocolGuard crossProtocolGuard() {
        return crossProtocolGuard;
    }

    public Clients clients() {
        return clients;
    }

    @Override
    public SlowLog slowLog() {
        return slowLog;
    }

    public LatencyMonitor latencies() {
        return latencies;
    }

    /** Measures while {@code latency-monitor-threshold} is above 0. */
    @Override
    public HiccupMeter hiccups() {
        return hiccups;
    }

    @Override
    public ErrorCounts errors() {
        return errors;
    }

    @Override
    public long overInputLimit() {
        return clients.overInputLimit();
    }

    @Override
    public long overOutputLimit() {
        return clients.overOutputLimit();
    }

    @Override
    public UnknownCommands unknownCommands() {
        return unknownCommands;
    }

    @Override
    public List<LoopCounters> loops() {
        return loops;
    }

    /** Counters for one more event loop. */
    public LoopCounters newLoop(int commandCount) {
        LoopCounters counters = new LoopCounters(commandCount);
        loops.add(counters);
        return counters;
    }

    @Override
    public int counterEpoch() {
        return counterEpoch.get();
    }

    /** CONFIG RESETSTAT. */
    public void resetStats() {
        counterEpoch.incrementAndGet();
        errors.reset();
        unknownCommands.reset();
        access.log().resetCounts();
        clients.resetCounts();
        cache.resetStats();
    }

    @Override
    public ServerConfig config() {
        return config;
    }

    /** All users. */
    public AccessControl access() {
        return access;
    }

    /** What asks the rules of users. */
    public AccessGuard accessGuard() {
        return accessGuard;
    }

    /** Tells of changed settings from now on. */
    public void onConfig(ConfigListener listener) {
        configListeners.add(listener);
    }

    /**
     * Takes a changed configuration over, and hands the cache and who else has asked their parts.
     *
     * @param named the settings that were named, be they changed or not
     * @throws ConfigException if one of them cannot be; nothing is changed then
     */
    public synchronized void config(ServerConfig changed, Set<String> named) {
        List<ConfigListener.Change> changes = new ArrayList<>();
        try {
            for (ConfigListener listener : configListeners) {
                changes.add(listener.prepare(changed, named));
            }
            cache.reconfigure(cacheConfig(changed));
        } catch (RuntimeException refused) {
            changes.forEach(ConfigListener.Change::undo);
            throw refused;
        }
        changes.forEach(ConfigListener.Change::apply);
        access.reconfigure(config, changed);
        if (!changed.text("loglevel").equals(config.text("loglevel"))) {
            LogLevel.apply(changed.text("loglevel"));
        }
        config = changed;
        keyEvents.select(EventSelection.parse(changed.text("notify-keyspace-events")));
        tracking.maxKeys(changed.number("tracking-table-max-keys"));
    }

    /** What "auto" came to when the cache was opened stays. */
    private CacheConfig cacheConfig(ServerConfig changed) {
        CacheConfig opened = cache.config();
        return changed.cacheConfig().withActiveExpire(activeExpire).withHashSeed(opened.hashSeed())
                .withTicker(opened.ticker()).withShards(opened.shards())
                .withSegmentSizeBytes(opened.segmentSizeBytes()).withHeads(opened.heads());
    }

    /** DEBUG SET-ACTIVE-EXPIRE: whether maintenance reclaims what is expired. */
    public synchronized void activeExpire(boolean active) {
        activeExpire = active;
        cache.reconfigure(cache.config().withActiveExpire(active));
    }

    public long startedMillis() {
        return startedMillis;
    }

    @Override
    public long uptimeSeconds() {
        return (ticker.nanoTime() - startedNanos) / 1_000_000_000L;
    }

    /** 40 hexadecimal digits, new at each start. */
    @Override
    public String runId() {
        return runId;
    }

    /** The port that is listened on. */
    @Override
    public int port() {
        return port;
    }

    public void port(int value) {
        port = value;
    }

    @Override
    public List<String> listeners() {
        return listeners;
    }

    public void listeners(List<String> where) {
        listeners = List.copyOf(where);
    }

    /** epoll, io_uring or nio. */
    @Override
    public String transport() {
        return transport;
    }

    public void transport(String value) {
        transport = value;
    }

    @Override
    public long lastSaveSeconds() {
        return lastSaveSeconds;
    }

    /** SAVE was asked for, at this moment. */
    public void saved() {
        lastSaveSeconds = ticker.wallMillis() / 1000;
        changesAtSave = changes();
    }

    @Override
    public long changesSinceSave() {
        return changes() - changesAtSave;
    }

    private long changes() {
        return loops.stream().mapToLong(LoopCounters::changes).sum();
    }

    /** Asks the process to end; returns at once. */
    public void shutdown(String reason) {
        shutdown.accept(reason);
    }

    /** A fresh client for a connection that was admitted. */
    public Client connect(Connection connection, String address, String localAddress) {
        Client client = new Client(clients, connection, address, localAddress, ticker.wallMillis(),
                new Watch(watchedKeys, argumentMemory), new Subscriptions(channels, connection::mailCame),
                access.defaultAccount());
        clients.add(client);
        return client;
    }

    /** A client's connection has ended. On its event loop. */
    public void disconnect(Client client) {
        clients.remove(client);
        waitsNoMore(client);
        client.endTransaction();
        stopTracking(client);
        client.subscriptions().end();
    }

    /** A client, be it connected, runs no more commands: it waits for no key, and holds nobody up. On its event loop. */
    public void waitsNoMore(Client client) {
        stopWaiting(client, false);
        Pass pass = client.takePass();
        if (pass != null) {
            blockedKeys.leave(pass);
        }
    }

    /** The keys that clients wait for. */
    public BlockedKeys blockedKeys() {
        return blockedKeys;
    }

    /**
     * If the client waits for keys it does so no more. On its event loop.
     *
     * @param nothingLeft see {@link BlockedKeys#leave}
     */
    public void stopWaiting(Client client, boolean nothingLeft) {
        Waiter waiter = client.waiter();
        if (waiter != null) {
            client.waiter(null);
            blockedKeys.leave(waiter, nothingLeft);
            argumentMemory.give(waiter.heapBytes());
        }
    }

    /** INFO, which samples rates and peaks. */
    @Override
    public InfoReport report() {
        return report;
    }

    /** All commands: known once the table is complete, before the first connection. */
    public CommandTable commands() {
        return commands;
    }

    /**
     * Told once the table is complete.
     *
     * @throws ConfigException if the configuration's users cannot be
     */
    public void commands(CommandTable complete) {
        commands = complete;
        access = AccessControl.open(new TableNames(complete), GlobPattern::matches, config);
        config = config.withoutUsers();
        commandNames = complete.all().stream().map(CommandSpec::fullName).toList();
    }

    @Override
    public List<String> commandNames() {
        return commandNames;
    }

    @Override
    public int connectedClients() {
        return clients.count();
    }

    @Override
    public ClientTotals clientTotals() {
        int waiting = 0;
        int limited = 0;
        long bufferBytes = 0;
        long largestInput = 0;
        long largestOutput = 0;
        int watching = 0;
        int listening = 0;
        for (Client client : clients.unordered()) {
            Connection connection = client.connection();
            Suspension suspension = client.suspension();
            if (suspension != null && suspension.noticed()) {
                waiting++;
                limited += suspension.timeoutMillis() > 0 ? 1 : 0;
            }
            watching += client.watch().keyCount() > 0 ? 1 : 0;
            listening += client.isListening() ? 1 : 0;
            long outgoing = client.outgoingBytes();
            bufferBytes += connection.incomingCapacityBytes() + outgoing;
            largestInput = Math.max(largestInput, connection.incomingBytes());
            largestOutput = Math.max(largestOutput, outgoing);
        }
        return new ClientTotals(waiting, limited, blockedKeys.keyCount(), bufferBytes, largestInput, largestOutput,
                watching,
                listening, watchedKeys.total());
    }

    @Override
    public TrackingTotals trackingTotals() {
        return new TrackingTotals(tracking.clientCount(), tracking.keyCount(), tracking.itemCount(),
                tracking.prefixCount());
    }

    @Override
    public int channelCount() {
        return channels.count(Scope.CHANNEL);
    }

    @Override
    public int patternCount() {
        return channels.count(Scope.PATTERN);
    }

    @Override
    public int shardChannelCount() {
        return channels.count(Scope.SHARD_CHANNEL);
    }

    @Override
    public long undeliveredMessageBytes() {
        return channels.undeliveredBytes();
    }

    @Override
    public long connectionsReceived() {
        return clients.received();
    }

    @Override
    public long connectionsRejected() {
        return clients.rejected();
    }

    @Override
    public long accessDenied(Denial reason) {
        return access.log().denied(reason);
    }

    @Override
    public String redisVersion() {
        return Version.REDIS;
    }

    @Override
    public String varveVersion() {
        return Version.VARVE;
    }
}
