package io.varve.server.command;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.Cache;
import io.varve.memory.item.Ticker;
import io.varve.server.acl.AccessControl;
import io.varve.server.acl.Denial;
import io.varve.server.admin.ClientTotals;
import io.varve.server.admin.ErrorCounts;
import io.varve.server.admin.InfoReport;
import io.varve.server.admin.InfoSource;
import io.varve.server.admin.LoopCounters;
import io.varve.server.admin.MemoryFigures;
import io.varve.server.admin.TrackingTotals;
import io.varve.server.admin.UnknownCommands;
import io.varve.server.admin.latency.HiccupMeter;
import io.varve.server.admin.latency.LatencyMonitor;
import io.varve.server.admin.latency.SlowLog;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.AppendLog;
import io.varve.server.persistence.LoadProgress;
import io.varve.server.persistence.SnapshotStatus;
import io.varve.server.pubsub.SubscriptionType;
import io.varve.server.replication.ReplicaRole;
import io.varve.server.replication.Replicas;
import io.varve.server.script.LibrarySet;
import io.varve.server.script.ScriptCache;
import io.varve.server.script.Scripting;
import io.varve.server.system.TimeSlice;
import org.jspecify.annotations.Nullable;

/** The server's counters, logs and reports. Thread-safe: each part guards itself. */
public final class Telemetry implements InfoSource {
    private static final int RUN_ID_BYTES = 20;
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private final Cache cache;
    private final @Nullable FlashTier flash;
    private final Ticker ticker;
    private final Supplier<ServerConfig> config;
    private final Supplier<AccessControl> access;
    private final ClientLifecycle lifecycle;
    private final Notifications notifications;
    private final SlowLog slowLog = new SlowLog();
    private final LatencyMonitor latencies = new LatencyMonitor();
    private final HiccupMeter hiccups;
    private final ErrorCounts errors = new ErrorCounts();
    private final UnknownCommands unknownCommands = new UnknownCommands();
    private final List<LoopCounters> loops = new CopyOnWriteArrayList<>();
    private final AtomicInteger counterEpoch = new AtomicInteger();
    private final long startedMillis;
    private final long startedNanos;
    private final String runId;
    private final InfoReport report;
    private final SnapshotStatus snapshots;
    private final SnapshotStatus logRewrites;
    private final AppendLog log;
    private final LoadProgress load;
    private final Replicas replicas;
    private final Scripting scripting;
    private final ClientPause pause;
    private volatile ReplicaRole role = ReplicaRole.PRIMARY;
    private volatile int port;
    private volatile List<String> listeners = List.of();
    private volatile String transport = "";
    private volatile List<String> commandNames = List.of();

    Telemetry(Cache cache, @Nullable FlashTier flash, Ticker ticker, Supplier<ServerConfig> config,
            Supplier<AccessControl> access, ClientLifecycle lifecycle, Notifications notifications, AppendLog log,
            LoadProgress load, Replicas replicas, Scripting scripting, ClientPause pause) {
        this.scripting = scripting;
        this.pause = pause;
        this.cache = cache;
        this.log = log;
        this.load = load;
        this.replicas = replicas;
        this.flash = flash;
        this.ticker = ticker;
        this.config = config;
        this.access = access;
        this.lifecycle = lifecycle;
        this.notifications = notifications;
        hiccups = new HiccupMeter(new TimeSlice(config.get().number("io-thread-slice-us")));
        startedMillis = ticker.wallMillis();
        startedNanos = ticker.nanoTime();
        snapshots = new SnapshotStatus(startedMillis / 1000, ticker::nanoTime);
        logRewrites = new SnapshotStatus(startedMillis / 1000, ticker::nanoTime);
        byte[] id = new byte[RUN_ID_BYTES];
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

    @Override
    public ServerConfig config() {
        return config.get();
    }

    /** Sets the commands whose counters are reported. */
    void commands(CommandTable table) {
        commandNames = table.all().stream().map(CommandSpec::fullName).toList();
    }

    @Override
    public MemoryFigures.ScriptFigures scripts() {
        ScriptCache cache = scripting.scripts();
        LibrarySet libraries = scripting.libraries().current();
        return new MemoryFigures.ScriptFigures(cache.count(), cache.heapBytes(),
                scripting.running().scriptBytes(), libraries.libraries().size(), libraries.functionCount(),
                libraries.heapBytes(), scripting.running().functionBytes());
    }

    @Override
    public long evictedScripts() {
        return scripting.scripts().evicted();
    }

    @Override
    public Replicas replicas() {
        return replicas;
    }

    @Override
    public ReplicaRole role() {
        return role;
    }

    /** See {@link ServerState#role(ReplicaRole)}. */
    void role(ReplicaRole able) {
        role = able;
    }

    @Override
    public String pausedActions() {
        return pause.mode().name().toLowerCase(Locale.ROOT);
    }

    @Override
    public long pausedMillis() {
        return pause.leftMillis();
    }

    @Override
    public ClientTotals clientTotals() {
        return lifecycle.totals();
    }

    @Override
    public SlowLog slowLog() {
        return slowLog;
    }

    public LatencyMonitor latencies() {
        return latencies;
    }

    /** Measures event loop hiccups while {@code latency-monitor-threshold} is above 0. */
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
        return lifecycle.clients().overInputLimit();
    }

    @Override
    public long overOutputLimit() {
        return lifecycle.clients().overOutputLimit();
    }

    @Override
    public UnknownCommands unknownCommands() {
        return unknownCommands;
    }

    @Override
    public List<LoopCounters> loops() {
        return loops;
    }

    /** Creates counters for another event loop. */
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
        access.get().log().resetCounts();
        lifecycle.clients().resetCounts();
        cache.resetStats();
    }

    public long startedMillis() {
        return startedMillis;
    }

    @Override
    public long uptimeSeconds() {
        return (ticker.nanoTime() - startedNanos) / NANOS_PER_SECOND;
    }

    /** 40 hexadecimal digits, new at each start. */
    @Override
    public String runId() {
        return runId;
    }

    /** The port that the server listens on. */
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
    public LoadProgress load() {
        return load;
    }

    @Override
    public SnapshotStatus snapshots() {
        return snapshots;
    }

    @Override
    public AppendLog log() {
        return log;
    }

    @Override
    public SnapshotStatus logRewrites() {
        return logRewrites;
    }

    @Override
    public long changesSinceSave() {
        return snapshots.changesSinceSave(changes());
    }

    /** Changes of the data since the start, as Redis counts them. */
    public long changes() {
        return loops.stream().mapToLong(LoopCounters::changes).sum();
    }

    /** The INFO report, which samples rates and peaks. */
    @Override
    public InfoReport report() {
        return report;
    }

    @Override
    public List<String> commandNames() {
        return commandNames;
    }

    @Override
    public int connectedClients() {
        return lifecycle.clients().count();
    }

    @Override
    public TrackingTotals trackingTotals() {
        return new TrackingTotals(notifications.tracking().clientCount(), notifications.tracking().keyCount(),
                notifications.tracking().itemCount(),
                notifications.tracking().prefixCount());
    }

    @Override
    public int channelCount() {
        return notifications.channels().count(SubscriptionType.CHANNEL);
    }

    @Override
    public int patternCount() {
        return notifications.channels().count(SubscriptionType.PATTERN);
    }

    @Override
    public int shardChannelCount() {
        return notifications.channels().count(SubscriptionType.SHARD_CHANNEL);
    }

    @Override
    public long undeliveredMessageBytes() {
        return notifications.channels().undeliveredBytes();
    }

    @Override
    public long connectionsReceived() {
        return lifecycle.clients().received();
    }

    @Override
    public long connectionsRejected() {
        return lifecycle.clients().rejected();
    }

    @Override
    public long accessDenied(Denial reason) {
        return access.get().log().denied(reason);
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
