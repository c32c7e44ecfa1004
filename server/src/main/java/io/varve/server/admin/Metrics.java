package io.varve.server.admin;

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
import io.varve.memory.CacheStats;
import io.varve.memory.DemandReport;
import io.varve.memory.PenaltyReport;
import io.varve.server.admin.LoopCounters.Total;
import org.jspecify.annotations.Nullable;

/**
 * Everything that is measured, in the form that Prometheus reads. Confined to the thread that scrapes.
 *
 * <p>Nothing here is on the way of a request: every meter is a function over what the server counts anyway, and all of one scrape
 * read the same sums, which are taken once when it begins. Names end in their unit; what only grows ends in {@code _total}, and
 * starts from 0 after a start and after CONFIG RESETSTAT.
 */
public final class Metrics implements AutoCloseable {
    /** Of what {@link #scrape} writes. */
    public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private static final String BYTES = "bytes";
    private static final String RATIO = "ratio";
    private static final String SECONDS = "seconds";
    private static final String NONE = "";
    private static final double MILLIS_PER_SECOND = 1e3;
    private static final double MICROS_PER_SECOND = 1e6;

    /**
     * What one scrape tells. Immutable.
     *
     * @param stats     of the memory tier
     * @param memory    figures about memory
     * @param figures   the same, as a list
     * @param clients   sums over the connections
     * @param counts    what the event loops have counted
     * @param flash     of the tier below; null if there is none
     * @param penalties of what misses cost; null if that is not tracked
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
        if (now.flash() != null) {
            flash();
        }
        jvm();
        registry.getPrometheusRegistry().register(new LabelledMetrics(source, () -> now.counts(), () -> now.stats()));
        registry.getPrometheusRegistry().register(new ClassMetrics(() -> now.penalties()));
    }

    /**
     * Writes all metrics as they are now, as Prometheus's text format, version 0.0.4.
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

    /** Two meters of different units are two, although the registry tells them apart by name alone. */
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
                source.redisVersion())).description("The server's versions").register(registry);
        gauge("ready", NONE, "1: clients may be sent here, as /health/ready says it",
                _ -> health.state() == Health.State.READY ? 1 : 0);
        gauge("uptime", SECONDS, "Since the start", _ -> source.uptimeSeconds());
        gauge("event.loops", NONE, "Threads that execute commands", _ -> source.config().number("io-threads"));
        total("commands.processed", NONE, "Commands executed or refused", Total.COMMANDS);
        total("network.input", BYTES, "Received from clients", Total.INPUT_BYTES);
        total("network.output", BYTES, "Sent to clients", Total.OUTPUT_BYTES);
        total("network.reads", NONE, "Reads from sockets", Total.READS);
        total("network.writes", NONE, "Writes to sockets", Total.WRITES);
        gauge("slowlog.entries", NONE, "Commands that the slow log holds", _ -> source.slowLog().size());
        gauge("hiccup.longest", SECONDS, "The longest time that the process could not run, while"
                + " latency-monitor-threshold is above 0", _ -> source.hiccups().longestMicros() / MICROS_PER_SECOND);
        counter("hiccups", NONE, "Times of a millisecond or more in which it could not run",
                _ -> source.hiccups().longOnes());
    }

    private void connections() {
        gauge("connections.open", NONE, "Clients that are connected", _ -> source.connectedClients());
        gauge("connections.max", NONE, "Clients that may be: maxclients", _ -> source.config().number("maxclients"));
        gauge("connections.waiting", NONE, "Clients whose command has no answer yet",
                reading -> reading.clients().waiting());
        counter("connections.received", NONE, "Clients that came", _ -> source.connectionsReceived());
        counter("commands.unknown", NONE, "Commands that clients sent and that there are none of",
                _ -> source.unknownCommands().total());
        counter("connections.rejected", NONE, "Clients that were one too many", _ -> source.connectionsRejected());
        gauge("connections.input.largest", BYTES, "The most that one client has sent and that is not executed",
                reading -> reading.clients().largestInputBytes());
        gauge("connections.output.largest", BYTES, "The most that waits to be sent to one client",
                reading -> reading.clients().largestOutputBytes());
        gauge("pubsub.channels", NONE, "Channels that somebody listens to", _ -> source.channelCount());
        gauge("pubsub.patterns", NONE, "Patterns that somebody listens to", _ -> source.patternCount());
        gauge("pubsub.shard.channels", NONE, "Shard channels that somebody listens to",
                _ -> source.shardChannelCount());
        gauge("pubsub.undelivered", BYTES, "Heap of messages and of MONITOR's lines that are not delivered yet",
                _ -> source.undeliveredMessageBytes());
    }

    /** Each figure of INFO's section. */
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
        gauge("segments.live", BYTES, "Items that live", reading -> reading.stats().liveBytes());
        gauge("segments.dead", BYTES, "What nobody can reach, and the cleaner takes back",
                reading -> reading.stats().deadBytes());
        gauge("segments.utilization", RATIO, "Live bytes over live and dead ones", reading -> MemoryFigures
                .ratio(reading.stats().liveBytes(), reading.memory().activeBytes()));
        gauge("pool", BYTES, "What is charged to maxmemory, in use and free", reading -> reading.stats().poolBytes());
        gauge("index", BYTES, "Tables of the index", reading -> reading.stats().indexBytes());
        gauge("index.load", RATIO, "Slots of the index that are used", reading -> reading.stats().indexLoadFactor());
        gauge("index.rehashing", NONE, "1: an index is between two tables",
                reading -> reading.stats().rehashing() ? 1 : 0);
        ofCache("cleaner.segments.cleaned", "Segments emptied by the cleaner", CacheStats::segmentsCleaned);
        ofCache("cleaner.segments.freed.whole", "Segments freed because nothing lived in them",
                CacheStats::segmentsFreedWhole);
        counter("cleaner.moved", BYTES, "Copied by the cleaner", reading -> reading.stats().bytesMoved());
        counter("cleaner.reclaimed", BYTES, "Freed by the cleaner", reading -> reading.stats().bytesReclaimed());
        counter("items.written", BYTES, "Item bytes appended by writes", reading -> reading.stats().bytesWritten());
    }

    private void expiryAndEviction() {
        ofCache("keyspace.hits", "Keys that were looked for and found", CacheStats::hits);
        ofCache("keyspace.misses", "Keys that were looked for and not found", CacheStats::misses);
        ofCache("expired.keys", "Keys that went by time", CacheStats::expired);
        ofCache("expired.fields", "Fields of hashes that went by time", CacheStats::fieldsExpired);
        gauge("expired.unreclaimed.items", NONE, "Items past their time, invisible, and not yet reclaimed",
                reading -> reading.stats().expiredUnreclaimed());
        gauge("expiry", BYTES, "Time buckets and their entries", reading -> reading.stats().expiryBytes());
        ofCache("expiry.cycles.limited", "Expiry cycles that ended at their time limit",
                CacheStats::expireCyclesLimited);
        ofCache("evicted.keys", "Keys that went by pressure, those that fell to flash apart", CacheStats::evicted);
    }

    private void flash() {
        flashGauge("items", NONE, "Items on flash, those that are falling included", FlashTierStats::items);
        flashGauge("items.max", NONE, "Items that may be on flash", FlashTierStats::mostItems);
        flashGauge("files", BYTES, "Files of the store", FlashTierStats::fileBytes);
        flashGauge("queue.items", NONE, "Items that have fallen and are not written yet", FlashTierStats::queueDepth);
        flashGauge("queue", BYTES, "Bytes of those", FlashTierStats::queueBytes);
        flashGauge("fetches.waiting", NONE, "Keys that are asked for and not looked at yet",
                FlashTierStats::fetchesWaiting);
        flashGauge("policy.memory", BYTES, "Memory that the policy keeps", FlashTierStats::policyRamBytes);
        flashGauge("members.memory", BYTES, "Memory that tells what may be on flash", FlashTierStats::memberRamBytes);
        flashGauge("complete", NONE, "1: all that is on flash is known", stats -> stats.complete() ? 1 : 0);
        flashGauge("failing", NONE, "1: the last write failed, and nothing is taken", stats -> stats.failing() ? 1 : 0);
        flashSeconds("read.p50", "From when a key is asked for until it is in memory, the median",
                FlashTierStats::readP50Micros);
        flashSeconds("read.p99", "The same, of the slowest of a hundred", FlashTierStats::readP99Micros);
        flashCounter("hits", NONE, "Keys that were asked for and were there", FlashTierStats::hits);
        flashCounter("misses", NONE, "Keys that were asked for and were not", FlashTierStats::misses);
        flashCounter("promotions", NONE, "Items that came back into memory", FlashTierStats::promotions);
        flashCounter("loaded", NONE, "Of those, items that nobody had asked for yet", FlashTierStats::loaded);
        flashGauge("loading", NONE, "1: the items of a class are being loaded", stats -> stats.loading() ? 1 : 0);
        demand("dumps", "Times that a class was dumped in its valley", DemandReport::dumps);
        demand("loads", "Times that one was woken", DemandReport::wakes);
        demand("dumped.items", "Items that fell because of that", DemandReport::dumpedItems);
        flashCounter("evictions", NONE, "Items that went because there were too many", FlashTierStats::evictions);
        flashCounter("expired", NONE, "Items that were past their time when asked for", FlashTierStats::expired);
        flashCounter("corrupt", NONE, "Records that were not as they were written", FlashTierStats::corrupt);
        flashCounter("written", NONE, "Records written", FlashTierStats::written);
        flashCounter("shed", NONE, "Items not taken for want of room or time", FlashTierStats::shed);
        flashCounter("not.admitted", NONE, "Items that were not to be taken", FlashTierStats::notAdmitted);
        flashCounter("given.up", NONE, "Times that everything on flash was given up", FlashTierStats::givenUp);
        flashCounter("records.written", BYTES, "Bytes of the records written", FlashTierStats::recordBytes);
        flashCounter("device.written", BYTES, "What the store wrote for them and for itself",
                FlashTierStats::deviceBytes);
        flashCounter("read", BYTES, "Values that were brought back", FlashTierStats::bytesRead);
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
        counter("gc.pause", SECONDS, "Time that the JVM's collectors took",
                _ -> ProcessMemory.gcPauseMillis() / MILLIS_PER_SECOND);
    }

    @Override
    public void close() {
        collections.close();
        registry.close();
    }
}
