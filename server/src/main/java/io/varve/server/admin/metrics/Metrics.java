package io.varve.server.admin.metrics;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmInfoMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.varve.flash.tier.FlashTier;
import io.varve.flash.tier.FlashTierStats;
import io.varve.memory.report.CacheStats;
import io.varve.memory.report.DemandReport;
import io.varve.memory.report.PenaltyReport;
import io.varve.server.admin.ClientTotals;
import io.varve.server.admin.CommandCounts;
import io.varve.server.admin.InfoSource;
import io.varve.server.admin.LoopCounters.Total;
import io.varve.server.admin.MemoryFigures;
import io.varve.server.admin.ProcessMemory;
import org.jspecify.annotations.Nullable;

/**
 * All metrics, in the text format that Prometheus reads. Confined to the thread that scrapes.
 *
 * <p>No metric adds work to the request path: every meter is a function of counters that the server has anyway. All
 * meters of one scrape read the same sums, which are taken once at its begin. Names end in their unit. Counters end in
 * {@code _total} and start from 0 after a start and after CONFIG RESETSTAT.
 */
public final class Metrics implements AutoCloseable {
    /** The format of {@link #scrape}'s output. */
    public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private static final String BYTES = "bytes";
    private static final String RATIO = "ratio";
    private static final String SECONDS = "seconds";
    private static final String NONE = "";
    private static final double MILLIS_PER_SECOND = 1e3;
    private static final double MICROS_PER_SECOND = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double PERCENT = 100;

    /**
     * The figures of one scrape. Immutable.
     *
     * @param stats the statistics of the memory tier
     * @param memory figures about memory
     * @param figures those figures as a list
     * @param clients sums over the connections
     * @param counts the event loops' counters
     * @param flash the statistics of the flash tier; null if there is none
     * @param penalties cost of misses; null if it is not tracked
     */
    private record Reading(CacheStats stats, MemoryFigures memory, List<MemoryFigures.Figure> figures,
            ClientTotals clients, CommandCounts counts, @Nullable FlashTierStats flash,
            @Nullable PenaltyReport penalties) {}

    private final InfoSource source;
    private final Health health;
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics collections = new JvmGcMetrics();
    private Reading now;

    public Metrics(InfoSource source, Health health) {
        this.source = source;
        this.health = health;
        now = read(source);
        server();
        connections();
        memory();
        segments();
        expiryAndEviction();
        durability();
        if (now.flash() != null) {
            flash();
        }
        jvm();
        registry.getPrometheusRegistry().register(new LabelledMetrics(source, () -> now.counts(), () -> now.stats()));
        registry.getPrometheusRegistry().register(new ClassMetrics(() -> now.penalties()));
    }

    /**
     * Writes all current metrics in Prometheus's text format, version 0.0.4.
     *
     * @throws IOException if {@code out} does
     */
    public void scrape(OutputStream out) throws IOException {
        now = read(source);
        registry.scrape(out, CONTENT_TYPE);
    }

    private static Reading read(InfoSource source) {
        CacheStats stats = source.cache().stats();
        FlashTier flash = source.flash();
        MemoryFigures memory = source.report().figures(stats);
        return new Reading(stats, memory, memory.all(), source.clientTotals(), CommandCounts.of(source),
                flash == null ? null : flash.stats(), source.cache().penalties());
    }

    // --- meters

    private void gauge(String name, String unit, String meaning, ToDoubleFunction<Reading> value) {
        Gauge.builder(named(name, unit), () -> value.applyAsDouble(now)).baseUnit(unitOf(unit)).description(meaning)
                .register(registry);
    }

    private void counter(String name, String unit, String meaning, ToDoubleFunction<Reading> value) {
        FunctionCounter.builder(named(name, unit), this, metrics -> value.applyAsDouble(metrics.now))
                .baseUnit(unitOf(unit))
                .description(meaning).register(registry);
    }

    private static @Nullable String unitOf(String unit) {
        return unit.isEmpty() ? null : unit;
    }

    /**
     * Includes the unit: the registry distinguishes meters by name only, and meters of different units are distinct.
     */
    private static String named(String name, String unit) {
        return "varve." + name + (unit.isEmpty() ? "" : "." + unit);
    }

    private void total(String name, String unit, String meaning, Total which) {
        counter(name, unit, meaning, reading -> reading.counts().total(which));
    }

    private void ofCache(String name, String meaning, ToLongFunction<CacheStats> value) {
        counter(name, NONE, meaning, reading -> value.applyAsLong(reading.stats()));
    }

    private void server() {
        Gauge.builder("varve.info", () -> 1).tags(Tags.of("version", source.varveVersion(), "redis_version",
                source.redisVersion())).description("Always 1; the labels are the server's versions")
                .register(registry);
        gauge("ready", NONE, "1 while /health/ready answers 200",
                _ -> health.state() == Health.State.READY ? 1 : 0);
        gauge("uptime", SECONDS, "Time since the start", _ -> source.uptimeSeconds());
        gauge("event.loops", NONE, "Threads that execute commands", _ -> source.config().number("io-threads"));
        total("commands.processed", NONE, "Commands executed or refused", Total.COMMANDS);
        total("network.input", BYTES, "Bytes received from clients", Total.INPUT_BYTES);
        total("network.output", BYTES, "Bytes sent to clients", Total.OUTPUT_BYTES);
        total("network.reads", NONE, "Reads from sockets", Total.READS);
        total("network.writes", NONE, "Writes to sockets", Total.WRITES);
        gauge("slowlog.entries", NONE, "Entries of the slow log", _ -> source.slowLog().size());
        gauge("hiccup.longest", SECONDS, "Longest time in which the process could not run, while"
                + " latency-monitor-threshold is above 0", _ -> source.hiccups().longestMicros() / MICROS_PER_SECOND);
        counter("hiccups", NONE, "Times of 1 ms or more in which the process could not run",
                _ -> source.hiccups().longOnes());
    }

    private void connections() {
        gauge("connections.open", NONE, "Connected clients", _ -> source.connectedClients());
        gauge("connections.max", NONE, "Limit of clients: maxclients", _ -> source.config().number("maxclients"));
        gauge("connections.waiting", NONE, "Clients whose command has no answer yet",
                reading -> reading.clients().waiting());
        counter("connections.received", NONE, "Accepted connections", _ -> source.connectionsReceived());
        counter("commands.unknown", NONE, "Commands that Varve does not have",
                _ -> source.unknownCommands().total());
        counter("connections.rejected", NONE, "Rejected connections", _ -> source.connectionsRejected());
        gauge("connections.input.largest", BYTES, "Largest unexecuted input of a client",
                reading -> reading.clients().largestInputBytes());
        gauge("connections.output.largest", BYTES, "Largest pending output of a client",
                reading -> reading.clients().largestOutputBytes());
        gauge("pubsub.channels", NONE, "Channels with a subscriber", _ -> source.channelCount());
        gauge("pubsub.patterns", NONE, "Patterns with a subscriber", _ -> source.patternCount());
        gauge("pubsub.shard.channels", NONE, "Shard channels with a subscriber",
                _ -> source.shardChannelCount());
        gauge("pubsub.undelivered", BYTES, "Heap of undelivered messages and MONITOR lines",
                _ -> source.undeliveredMessageBytes());
    }

    /** Registers each figure of INFO's section. */
    private void memory() {
        List<MemoryFigures.Figure> figures = now.figures();
        for (int i = 0; i < figures.size(); i++) {
            int place = i;
            MemoryFigures.Figure figure = figures.get(i);
            gauge("memory." + figure.metric(), figure.unit().metricUnit(), figure.meaning() + " (INFO: "
                    + figure.field() + ")", reading -> reading.figures().get(place).value());
        }
    }

    private void segments() {
        gauge("segment.size", BYTES, "Size of a segment", reading -> reading.stats().segmentSizeBytes());
        gauge("segments.in.use", NONE, "Segments that hold items", reading -> reading.stats().segmentsInUse());
        gauge("segments.free", NONE, "Segments held in reserve", reading -> reading.stats().segmentsFree());
        gauge("segments.live", BYTES, "Live items", reading -> reading.stats().liveBytes());
        gauge("segments.dead", BYTES, "Dead bytes, which the cleaner reclaims",
                reading -> reading.stats().deadBytes());
        gauge("segments.utilization", RATIO, "Live bytes over live and dead bytes", reading -> MemoryFigures
                .ratio(reading.stats().liveBytes(), reading.memory().activeBytes()));
        gauge("pool", BYTES, "Memory charged to maxmemory, in use and free", reading -> reading.stats().chargedBytes());
        gauge("index", BYTES, "Tables of the index", reading -> reading.stats().indexBytes());
        gauge("index.load", RATIO, "Used slots of the index", reading -> reading.stats().indexLoadFactor());
        gauge("index.rehashing", NONE, "1 while an index is rehashing",
                reading -> reading.stats().rehashing() ? 1 : 0);
        ofCache("cleaner.segments.cleaned", "Segments emptied by the cleaner", CacheStats::segmentsCleaned);
        ofCache("cleaner.segments.freed.whole", "Segments freed without a live item",
                CacheStats::segmentsFreedWhole);
        counter("cleaner.moved", BYTES, "Bytes copied by the cleaner", reading -> reading.stats().bytesMoved());
        counter("cleaner.reclaimed", BYTES, "Bytes freed by the cleaner", reading -> reading.stats().bytesReclaimed());
        counter("items.written", BYTES, "Item bytes appended by writes", reading -> reading.stats().bytesWritten());
    }

    private void expiryAndEviction() {
        ofCache("keyspace.hits", "Lookups that found the key", CacheStats::hits);
        ofCache("keyspace.misses", "Lookups that did not find the key", CacheStats::misses);
        ofCache("expired.keys", "Expired keys", CacheStats::expired);
        ofCache("expired.fields", "Expired fields of hashes", CacheStats::fieldsExpired);
        gauge("expired.unreclaimed.items", NONE, "Expired items that still hold memory; clients do not see them",
                reading -> reading.stats().expiredUnreclaimed());
        gauge("expiry", BYTES, "Memory of time buckets and their entries", reading -> reading.stats().expiryBytes());
        ofCache("expiry.cycles.limited", "Expiry cycles that reached their time limit",
                CacheStats::expireCyclesLimited);
        ofCache("evicted.keys", "Evicted keys, without those demoted to flash", CacheStats::evicted);
    }

    private void durability() {
        gauge("log.files", BYTES, "Size of the append-only log", _ -> source.log().bytes());
        gauge("log.pending", BYTES, "Changes that wait to be written to the log", _ -> source.log().pendingBytes());
        gauge("log.failing", NONE, "1 while the log cannot be written, and writes are refused",
                _ -> source.log().failure() == null ? 0 : 1);
        counter("log.forces", NONE, "Forces of the log to disk", _ -> source.log().timings().forces());
        counter("log.forces.duration", SECONDS, "Duration of these forces",
                _ -> source.log().timings().forceNanos() / NANOS_PER_SECOND);
        gauge("snapshot.changes", NONE, "Changes since the last snapshot", _ -> source.changesSinceSave());
        gauge("snapshot.time", SECONDS, "When the last snapshot was saved, Unix time",
                _ -> source.snapshots().lastSaveSeconds());
        gauge("snapshot.failing", NONE, "1 if the last snapshot could not be saved",
                _ -> source.snapshots().hasFailed() ? 1 : 0);
        gauge("loaded", RATIO, "Share of the data of an earlier run that is loaded",
                _ -> source.load().isLoading() ? source.load().percentage() / PERCENT : 1);
    }

    private void flash() {
        flashGauge("items", NONE, "Items on flash, with those on their way", FlashTierStats::items);
        flashGauge("items.max", NONE, "Limit of items on flash", FlashTierStats::maxItems);
        flashGauge("files", BYTES, "Size of the store's files", FlashTierStats::fileBytes);
        flashGauge("queue.items", NONE, "Demoted items that wait to be written", FlashTierStats::queueDepth);
        flashGauge("queue", BYTES, "Bytes of these items", FlashTierStats::queueBytes);
        flashGauge("fetches.waiting", NONE, "Requested keys that wait for a read",
                FlashTierStats::fetchesWaiting);
        flashGauge("policy.memory", BYTES, "Memory of the replacement policy", FlashTierStats::policyRamBytes);
        flashGauge("members.memory", BYTES, "Memory of the filter of keys that may be on flash",
                FlashTierStats::memberRamBytes);
        flashGauge("complete", NONE, "1 when the sweep of the keys on flash is complete",
                stats -> stats.complete() ? 1 : 0);
        flashGauge("failing", NONE, "1 after a failed write: flash takes no items", stats -> stats.failing() ? 1 : 0);
        flashSeconds("read.p50", "Median time from a request for a key until it is in memory",
                FlashTierStats::readP50Micros);
        flashSeconds("read.p99", "99th percentile of the time from a request for a key until it is in memory",
                FlashTierStats::readP99Micros);
        flashCounter("hits", NONE, "Requested keys that flash had", FlashTierStats::hits);
        flashCounter("misses", NONE, "Requested keys that flash did not have", FlashTierStats::misses);
        flashCounter("promotions", NONE, "Items promoted to memory", FlashTierStats::promotions);
        flashCounter("loaded", NONE, "Items promoted before a client asked for them; promotions counts them too",
                FlashTierStats::loaded);
        flashGauge("loading", NONE, "1 while a class is loaded", stats -> stats.loading() ? 1 : 0);
        demand("dumps", "Dumps of a class in its valley", DemandReport::dumps);
        demand("loads", "Loads of a class", DemandReport::wakes);
        demand("dumped.items", "Items demoted to flash by dumps", DemandReport::dumpedItems);
        flashCounter("evictions", NONE, "Items evicted from flash", FlashTierStats::evictions);
        flashCounter("expired", NONE, "Items that had expired when they were requested or loaded",
                FlashTierStats::expired);
        flashCounter("corrupt", NONE, "Corrupt records", FlashTierStats::corrupt);
        flashCounter("written", NONE, "Records written", FlashTierStats::written);
        flashCounter("shed", NONE, "Items dropped for lack of space or time", FlashTierStats::shed);
        flashCounter("not.admitted", NONE, "Items rejected by the admission policy", FlashTierStats::notAdmitted);
        flashCounter("given.up", NONE, "Times that the whole content of flash was dropped",
                FlashTierStats::invalidations);
        flashCounter("records.written", BYTES, "Bytes of the records written", FlashTierStats::recordBytes);
        flashCounter("device.written", BYTES, "Bytes that the store wrote, with its own overhead",
                FlashTierStats::deviceBytes);
        flashCounter("read", BYTES, "Bytes of fetched values", FlashTierStats::bytesRead);
    }

    private void demand(String name, String meaning, ToLongFunction<DemandReport> value) {
        counter("demand." + name, NONE, meaning, _ -> {
            DemandReport report = source.cache().demand();
            return report == null ? 0 : value.applyAsLong(report);
        });
    }

    private void flashGauge(String name, String unit, String meaning, ToLongFunction<FlashTierStats> value) {
        gauge("flash." + name, unit, meaning, ofFlash(value));
    }

    private void flashSeconds(String name, String meaning, ToLongFunction<FlashTierStats> micros) {
        gauge("flash." + name, SECONDS, meaning, reading -> ofFlash(micros).applyAsDouble(reading) / MICROS_PER_SECOND);
    }

    private void flashCounter(String name, String unit, String meaning, ToLongFunction<FlashTierStats> value) {
        counter("flash." + name, unit, meaning, ofFlash(value));
    }

    private static ToDoubleFunction<Reading> ofFlash(ToLongFunction<FlashTierStats> value) {
        return reading -> {
            FlashTierStats flash = reading.flash();
            return flash == null ? 0 : value.applyAsLong(flash);
        };
    }

    private void jvm() {
        new JvmInfoMetrics().bindTo(registry);
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ClassLoaderMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new FileDescriptorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        collections.bindTo(registry);
        counter("gc.pause", SECONDS, "Time in the JVM's collectors",
                _ -> ProcessMemory.gcPauseMillis() / MILLIS_PER_SECOND);
    }

    @Override
    public void close() {
        collections.close();
        registry.close();
    }
}
