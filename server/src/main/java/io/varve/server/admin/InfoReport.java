package io.varve.server.admin;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.varve.flash.tier.FlashTier;
import io.varve.flash.tier.FlashTierStats;
import io.varve.memory.report.CacheStats;
import io.varve.server.acl.Denial;
import io.varve.server.admin.LoopCounters.Total;
import io.varve.server.admin.latency.OperationRate;
import io.varve.server.config.Decimals;
import io.varve.server.config.MachineMemory;
import io.varve.server.config.MemoryUnits;
import io.varve.server.persistence.AppendLog;
import io.varve.server.persistence.LoadProgress;
import io.varve.server.persistence.SnapshotStatus;
import io.varve.server.system.Supervisor;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Writes INFO: the sections and fields of Redis 7.4 that have a meaning here, and a section of Varve's own. Many
 * threads: it holds only counters that guard themselves.
 */
public final class InfoReport {
    /**
     * An argument beside section names: it counts immediately, for as long as that takes, the items that maintenance
     * otherwise counts once a second.
     */
    private static final String EXACT = "exact";
    /** The allocator's name in MEMORY and INFO. */
    public static final String ALLOCATOR = "offheap-segments";
    /** Redis's LRU clock has 24 bits. */
    private static final long LRU_CLOCK_MASK = (1 << 24) - 1;
    private static final List<String> DEFAULT_SECTIONS = List.of("server", "clients", "memory", "persistence", "stats",
            "replication", "cpu", "modules", "errorstats", "unknowncommands", "cluster", "keyspace", "varve");
    private static final List<String> ALL_SECTIONS = List.of("server", "clients", "memory", "persistence", "stats",
            "replication", "cpu", "modules", "commandstats", "errorstats", "unknowncommands", "latencystats",
            "cluster", "keyspace", "varve");

    private final InfoSource source;
    private final OperationRate rate = new OperationRate(3);
    /** Read once at the start: the JDK reads the system's files for it each time. */
    private final long machineBytes = MachineMemory.totalBytes();
    private final long startupBytes;
    private volatile long peakBytes;

    public InfoReport(InfoSource source) {
        this.source = source;
        startupBytes = source.cache().stats().usedBytes();
    }

    /** Samples the values that are reported per second and as a peak; called about ten times a second. */
    public void sample(long nowNanos) {
        rate.sample(nowNanos, total(Total.COMMANDS), total(Total.INPUT_BYTES), total(Total.OUTPUT_BYTES));
        peakBytes = Math.max(peakBytes, source.cache().stats().usedBytes());
    }

    /**
     * Reads no item, regardless of their number, unless {@link #EXACT} requests it.
     *
     * @param requested sections in lower case; none: the default ones. Unknown ones are ignored
     */
    public String write(List<String> requested) {
        List<String> wanted = new ArrayList<>();
        for (String section : requested.isEmpty() ? List.of("default") : requested) {
            switch (section) {
                case "default" -> wanted.addAll(DEFAULT_SECTIONS);
                case "all", "everything" -> wanted.addAll(ALL_SECTIONS);
                default -> wanted.add(section);
            }
        }
        StringBuilder out = new StringBuilder(4096);
        CacheStats stats = source.cache().stats();
        long expired = requested.contains(EXACT)
                ? source.cache().countExpiredUnreclaimed()
                : stats.expiredUnreclaimed();
        for (String section : ALL_SECTIONS) {
            if (wanted.contains(section)) {
                section(new InfoSection(out), section, stats, expired);
            }
        }
        return out.toString();
    }

    /** @param expired items past their expiry time that are not reclaimed */
    private void section(InfoSection out, String name, CacheStats stats, long expired) {
        switch (name) {
            case "server" -> server(out);
            case "clients" -> clients(out);
            case "memory" -> memory(out, stats);
            case "persistence" -> persistence(out);
            case "stats" -> stats(out, stats);
            case "replication" -> ReplicationLines.write(source, out);
            case "cpu" -> cpu(out);
            case "modules" -> out.head("Modules");
            case "commandstats" -> commandStats(out);
            case "errorstats" -> errorStats(out);
            case "unknowncommands" -> unknownCommands(out);
            case "latencystats" -> latencyStats(out);
            case "cluster" -> out.head("Cluster").field("cluster_enabled",
                    source.config().bool("cluster-enabled") ? 1 : 0);
            case "keyspace" -> keyspace(out, stats, source.flash());
            case "varve" -> {
                varve(out, stats, expired);
                CurveReport.write(out, source.cache());
                PenaltyLines.write(out, source.cache());
                DemandLines.write(out, source.cache());
                FlashTier flash = source.flash();
                if (flash != null) {
                    flash(out, flash.stats());
                }
            }
            default -> throw new IllegalArgumentException(name);
        }
    }

    private void server(InfoSection out) {
        long uptime = source.uptimeSeconds();
        out.head("Server").field("redis_version", source.redisVersion()).field("server_name", "varve")
                .field("varve_version", source.varveVersion()).field("redis_git_sha1", "00000000")
                .field("redis_git_dirty", 0).field("redis_build_id", "0")
                .field("redis_mode", source.config().bool("cluster-enabled") ? "cluster" : "standalone")
                .field("os", System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch"))
                .field("arch_bits", 64).field("monotonic_clock", "System.nanoTime")
                .field("multiplexing_api", source.transport()).field("java_version", System.getProperty("java.version"))
                .field("process_id", ProcessHandle.current().pid())
                .field("process_supervised",
                        Supervisor.of(source.config().text("supervised"), System.getenv()).toString())
                .field("run_id", source.runId()).field("tcp_port", source.port())
                .field("server_time_usec", source.cache().config().ticker().wallMillis() * 1000)
                .field("uptime_in_seconds", uptime).field("uptime_in_days", uptime / 86_400)
                .field("hz", source.config().number("hz")).field("configured_hz", source.config().number("hz"))
                .field("lru_clock", source.cache().config().ticker().wallMillis() / 1000 & LRU_CLOCK_MASK)
                .field("executable", executable())
                .field("config_file", source.config().file() == null ? "" : source.config().file().toString())
                .field("io_threads_active", source.config().number("io-threads") > 1 ? 1 : 0);
        List<String> listeners = source.listeners();
        for (int i = 0; i < listeners.size(); i++) {
            out.field("listener" + i, listeners.get(i));
        }
    }

    /** The path of the script that started the server, if one did. */
    private static String executable() {
        return System.getProperty("varve.executable",
                Path.of(System.getProperty("java.home"), "bin", "java").toString());
    }

    private void clients(InfoSection out) {
        ClientTotals totals = source.clientTotals();
        out.head("Clients").field("connected_clients", source.connectedClients()).field("cluster_connections", 0)
                .field("maxclients", source.config().number("maxclients"))
                .field("client_recent_max_input_buffer", totals.largestInputBytes())
                .field("client_recent_max_output_buffer", totals.largestOutputBytes())
                .field("blocked_clients", totals.waiting())
                .field("tracking_clients", source.trackingTotals().clients())
                .field("pubsub_clients", totals.listening()).field("watching_clients", totals.watching())
                .field("clients_in_timeout_table", totals.limited())
                .field("total_watched_keys", totals.watchedKeys()).field("total_blocking_keys", totals.keys())
                .field("total_blocking_keys_on_nokey", 0);
        String paused = source.pausedActions();
        out.field("paused_reason", paused.equals("none") ? paused : "client_pause").field("paused_actions", paused)
                .field("paused_timeout_milliseconds", source.pausedMillis());
    }

    private void memory(InfoSection out, CacheStats stats) {
        out.head("Memory");
        for (MemoryFigures.Figure figure : figures(stats).all()) {
            out.field(figure.field(), figure.text());
            if (figure.human()) {
                out.field(figure.field() + "_human", MemoryUnits.human((long) figure.value()));
            }
            switch (figure.field()) {
                case "maxmemory" -> out.field("maxmemory_policy", source.config().text("maxmemory-policy"));
                case "mem_aof_buffer" -> out.field("mem_allocator", ALLOCATOR);
                default -> {
                    // Text is printed only where Redis prints it.
                }
            }
        }
    }

    /** The current memory figures. */
    public MemoryFigures memory() {
        return figures(source.cache().stats());
    }

    /** The memory figures, from sums of a moment ago. */
    public MemoryFigures figures(CacheStats stats) {
        long buffers = source.clientTotals().bufferBytes();
        long peak = Math.max(peakBytes, MemoryFigures.usedBytes(stats, buffers));
        peakBytes = peak;
        return new MemoryFigures(stats, buffers, source.log().pendingBytes(), source.replicas().backlogBytes(),
                startupBytes, peak,
                ProcessMemory.residentBytes(stats.chargedBytes()), machineBytes, source.config().maxMemoryBytes(),
                source.scripts());
    }

    private static double ratio(long numerator, long denominator) {
        return MemoryFigures.ratio(numerator, denominator);
    }

    private void persistence(InfoSection out) {
        SnapshotStatus snapshots = source.snapshots();
        long total = snapshots.totalKeys();
        LoadProgress load = source.load();
        // It may end meanwhile, and the fields below belong to it.
        boolean isLoading = load.isLoading();
        out.head("Persistence").field("loading", isLoading ? 1 : 0).field("async_loading", 0)
                .field("current_cow_peak", 0)
                .field("current_cow_size", 0).field("current_cow_size_age", 0)
                .field("current_fork_perc",
                        String.format(Locale.ROOT, "%.2f", total == 0 ? 0 : 100.0 * snapshots.keys() / total))
                .field("current_save_keys_processed", snapshots.keys()).field("current_save_keys_total", total)
                .field("rdb_changes_since_last_save", source.changesSinceSave())
                .field("rdb_bgsave_in_progress", snapshots.isSaving() ? 1 : 0)
                .field("rdb_last_save_time", snapshots.lastSaveSeconds())
                .field("rdb_last_bgsave_status", snapshots.hasFailed() ? "err" : "ok")
                .field("rdb_last_bgsave_time_sec", snapshots.lastSeconds())
                .field("rdb_current_bgsave_time_sec", snapshots.currentSeconds())
                .field("rdb_saves", snapshots.saves()).field("rdb_last_cow_size", 0)
                .field("rdb_last_load_keys_expired", snapshots.expiredKeys())
                .field("rdb_last_load_keys_loaded", snapshots.loadedKeys());
        log(out);
        out.field("module_fork_in_progress", 0).field("module_fork_last_cow_size", 0);
        if (isLoading) {
            out.field("loading_start_time", load.startSeconds()).field("loading_total_bytes", load.totalBytes())
                    .field("loading_rdb_used_mem", 0).field("loading_loaded_bytes", load.loadedBytes())
                    .field("loading_loaded_perc", Decimals.of(load.percentage(), 2))
                    .field("loading_eta_seconds", load.secondsLeft());
        }
    }

    private void log(InfoSection out) {
        AppendLog log = source.log();
        SnapshotStatus rewrites = source.logRewrites();
        boolean isOpen = log.isOpen();
        out.field("aof_enabled", isOpen ? 1 : 0)
                .field("aof_rewrite_in_progress", rewrites.isSaving() ? 1 : 0)
                .field("aof_rewrite_scheduled", log.isRewriteScheduled() ? 1 : 0)
                .field("aof_last_rewrite_time_sec", rewrites.lastSeconds())
                .field("aof_current_rewrite_time_sec", rewrites.currentSeconds())
                .field("aof_last_bgrewrite_status", rewrites.hasFailed() ? "err" : "ok")
                .field("aof_rewrites", rewrites.saves())
                .field("aof_last_write_status", log.failure() == null ? "ok" : "err")
                .field("aof_last_cow_size", 0);
        if (isOpen) {
            out.field("aof_current_size", log.bytes()).field("aof_base_size", log.rewrittenBytes())
                    .field("aof_pending_rewrite", 0).field("aof_buffer_length", log.pendingBytes())
                    .field("aof_pending_bio_fsync", 0).field("aof_delayed_fsync", log.timings().delayedForces());
        }
    }

    private void stats(InfoSection out, CacheStats stats) {
        long input = total(Total.INPUT_BYTES);
        long output = total(Total.OUTPUT_BYTES);
        TrackingTotals tracking = source.trackingTotals();
        out.head("Stats").field("total_connections_received", source.connectionsReceived())
                .field("total_commands_processed", total(Total.COMMANDS))
                .field("instantaneous_ops_per_sec", rate.perSecond(0)).field("total_net_input_bytes", input)
                .field("total_net_output_bytes", output).field("total_net_repl_input_bytes", 0)
                .field("total_net_repl_output_bytes", 0)
                .field("instantaneous_input_kbps", Decimals.of(rate.perSecond(1) / 1024.0, 2))
                .field("instantaneous_output_kbps", Decimals.of(rate.perSecond(2) / 1024.0, 2))
                .field("instantaneous_input_repl_kbps", "0.00").field("instantaneous_output_repl_kbps", "0.00")
                .field("rejected_connections", source.connectionsRejected())
                .field("sync_full", source.replicas().fullSyncs())
                .field("sync_partial_ok", source.replicas().partialSyncs())
                .field("sync_partial_err", source.replicas().refusedPartialSyncs())
                .field("expired_keys", stats.expired())
                .field("expired_subkeys", stats.fieldsExpired())
                .field("expired_stale_perc", "0.00")
                .field("expired_time_cap_reached_count", stats.expireCyclesLimited())
                .field("expire_cycle_cpu_milliseconds", 0).field("evicted_keys", stats.evicted())
                .field("evicted_clients", 0).field("evicted_scripts", source.evictedScripts())
                .field("total_eviction_exceeded_time", 0)
                .field("current_eviction_exceeded_time", 0).field("keyspace_hits", stats.hits())
                .field("keyspace_misses", stats.misses()).field("pubsub_channels", source.channelCount())
                .field("pubsub_patterns", source.patternCount())
                .field("pubsubshard_channels", source.shardChannelCount()).field("latest_fork_usec", 0)
                .field("total_forks", 0)
                .field("migrate_cached_sockets", 0).field("slave_expires_tracked_keys", 0)
                .field("active_defrag_hits", 0).field("active_defrag_misses", 0).field("active_defrag_key_hits", 0)
                .field("active_defrag_key_misses", 0).field("total_active_defrag_time", 0)
                .field("current_active_defrag_time", 0).field("tracking_total_keys", tracking.keys())
                .field("tracking_total_items", tracking.items()).field("tracking_total_prefixes", tracking.prefixes())
                .field("unknown_commands", source.unknownCommands().total())
                .field("unexpected_error_replies", 0).field("total_error_replies", source.errors().total())
                .field("dump_payload_sanitizations", 0).field("total_reads_processed", total(Total.READS))
                .field("total_writes_processed", total(Total.WRITES)).field("io_threaded_reads_processed", 0)
                .field("io_threaded_writes_processed", 0).field("reply_buffer_shrinks", 0)
                .field("reply_buffer_expands", 0).field("acl_access_denied_auth", source.accessDenied(Denial.AUTH))
                .field("acl_access_denied_cmd", source.accessDenied(Denial.COMMAND))
                .field("acl_access_denied_key", source.accessDenied(Denial.KEY))
                .field("acl_access_denied_channel", source.accessDenied(Denial.CHANNEL))
                .field("client_query_buffer_limit_disconnections", source.overInputLimit())
                .field("client_output_buffer_limit_disconnections", source.overOutputLimit());
    }

    private static void cpu(InfoSection out) {
        ProcessorTime time = ProcessorTime.read();
        out.head("CPU").field("used_cpu_sys", Decimals.of(time.systemSeconds(), 6))
                .field("used_cpu_user", Decimals.of(time.userSeconds(), 6))
                .field("used_cpu_sys_children", "0.000000").field("used_cpu_user_children", "0.000000");
    }

    private void commandStats(InfoSection out) {
        out.head("Commandstats");
        List<String> names = source.commandNames();
        CommandCounts counts = CommandCounts.of(source);
        for (int i = 0; i < names.size(); i++) {
            long calls = counts.calls(i);
            long nanos = counts.nanos(i);
            long rejected = counts.rejected(i);
            long failed = counts.failed(i);
            if (calls + rejected + failed > 0) {
                double perCall = calls == 0 ? 0 : nanos / 1000.0 / calls;
                out.field("cmdstat_" + names.get(i), "calls=" + calls + ",usec=" + nanos / 1000 + ",usec_per_call="
                        + Decimals.of(perCall, 2) + ",rejected_calls=" + rejected + ",failed_calls=" + failed);
            }
        }
    }

    private void errorStats(InfoSection out) {
        out.head("Errorstats");
        for (Map.Entry<String, Long> entry : source.errors().byPrefix().entrySet()) {
            out.field("errorstat_" + entry.getKey(), "count=" + entry.getValue());
        }
    }

    /** Omitted while there are none. */
    private void unknownCommands(InfoSection out) {
        Map<String, Long> byName = source.unknownCommands().byName();
        if (!byName.isEmpty()) {
            out.head("Unknowncommands");
            byName.forEach((name, calls) -> out.field("unknowncmd_" + name, "calls=" + calls));
        }
    }

    private void latencyStats(InfoSection out) {
        out.head("Latencystats");
        if (!source.config().latencyTracking()) {
            return;
        }
        String setting = source.config().text("latency-tracking-info-percentiles");
        String[] percentiles = setting.isEmpty() ? new String[0] : setting.split(" ");
        List<String> names = source.commandNames();
        CommandCounts counts = CommandCounts.of(source);
        for (int i = 0; i < names.size(); i++) {
            Histogram sum = counts.latencies(i);
            if (sum != null) {
                StringBuilder text = new StringBuilder();
                for (String percentile : percentiles) {
                    double micros = sum.getValueAtPercentile(Double.parseDouble(percentile)) / 1000.0;
                    text.append(text.isEmpty() ? "p" : ",p").append(percentile).append('=')
                            .append(Decimals.of(micros, 3));
                }
                out.field("latency_percentiles_usec_" + names.get(i), text.toString());
            }
        }
    }

    /** Latencies in nanoseconds over all event loops, or null if the command has not run. */
    public @Nullable Histogram latencies(int command) {
        return CommandCounts.of(source).latencies(command);
    }

    private long total(Total which) {
        return CommandCounts.of(source).total(which);
    }

    /** Writes the keys of both tiers. The number of expiring keys on flash is unknown without reading them. */
    private void keyspace(InfoSection out, CacheStats stats, @Nullable FlashTier flash) {
        out.head("Keyspace");
        for (int i = 0; i < stats.databases().size(); i++) {
            CacheStats.Database database = stats.databases().get(i);
            long items = flash == null ? database.items() : source.cache().size(i, flash::count);
            if (items > 0) {
                // Printed only if not zero: exporters from the time of Redis 7.2 reject a line with a further part.
                String subexpiry = database.timedHashes() == 0 ? "" : ",subexpiry=" + database.timedHashes();
                out.field("db" + i, "keys=" + items + ",expires=" + database.expiringItems() + ",avg_ttl="
                        + database.averageTtlMillis() + subexpiry);
            }
        }
    }

    private void varve(InfoSection out, CacheStats stats, long expired) {
        long active = stats.liveBytes() + stats.deadBytes();
        out.head("Varve").field("varve_version", source.varveVersion())
                .field("segment_size", stats.segmentSizeBytes()).field("segments_in_use", stats.segmentsInUse())
                .field("segments_free", stats.segmentsFree()).field("pool_bytes", stats.chargedBytes())
                .field("live_bytes", stats.liveBytes()).field("dead_bytes", stats.deadBytes())
                .field("segment_utilization", Decimals.of(active == 0 ? 0 : ratio(stats.liveBytes(), active), 4))
                .field("index_bytes", stats.indexBytes())
                .field("index_load_factor", Decimals.of(stats.indexLoadFactor(), 4))
                .field("index_rehash_in_progress", stats.rehashing() ? 1 : 0)
                .field("expiry_bytes", stats.expiryBytes())
                .field("expired_unreclaimed_items", expired)
                .field("cleaner_policy", source.config().text("cleaner-policy"))
                .field("cleaner_segments_cleaned", stats.segmentsCleaned())
                .field("cleaner_segments_freed_whole", stats.segmentsFreedWhole())
                .field("cleaner_bytes_moved", stats.bytesMoved())
                .field("cleaner_bytes_reclaimed", stats.bytesReclaimed())
                .field("cleaner_reclaim_cost", Decimals.of(stats.reclaimCost(), 4))
                .field("cleaner_bytes_copied_per_byte_freed",
                        Decimals.of(ratio(stats.bytesMoved(), stats.bytesReclaimed()), 4))
                .field("bytes_written", stats.bytesWritten())
                .field("expire_algorithm", source.config().text("expire-algorithm"))
                .field("shards", source.cache().shardCount()).field("heap_used", ProcessMemory.heapUsedBytes())
                .field("heap_max", ProcessMemory.heapMaxBytes())
                .field("gc_pause_ms_total", ProcessMemory.gcPauseMillis())
                .field("undelivered_message_bytes", source.undeliveredMessageBytes())
                .field("hiccup_max_us", source.hiccups().longestMicros())
                .field("hiccups_over_1_ms", source.hiccups().longOnes());
    }

    private void flash(InfoSection out, FlashTierStats stats) {
        out.field("flash_dir", source.config().text("flash-dir"))
                .field("flash_policy", source.config().text("flash-policy"))
                .field("flash_items", stats.items()).field("flash_max_items", stats.maxItems())
                .field("flash_bytes", stats.fileBytes()).field("flash_hits", stats.hits())
                .field("flash_misses", stats.misses()).field("flash_promotions", stats.promotions())
                .field("flash_loaded", stats.loaded()).field("flash_loading", stats.loading() ? 1 : 0)
                .field("flash_evictions", stats.evictions()).field("flash_expired", stats.expired())
                .field("flash_corrupt", stats.corrupt()).field("flash_written", stats.written())
                .field("flash_shed", stats.shed()).field("flash_not_admitted", stats.notAdmitted())
                .field("flash_queue_depth", stats.queueDepth()).field("flash_queue_bytes", stats.queueBytes())
                .field("flash_fetches_waiting", stats.fetchesWaiting())
                .field("flash_policy_ram", stats.policyRamBytes()).field("flash_member_ram", stats.memberRamBytes())
                .field("flash_record_bytes_written", stats.recordBytes())
                .field("flash_device_bytes_written", stats.deviceBytes())
                .field("flash_write_amplification", Decimals.of(stats.writeAmplification(), 2))
                .field("flash_bytes_requested", stats.bytesRead())
                .field("flash_bytes_written_per_byte_requested",
                        Decimals.of(ratio(stats.deviceBytes(), stats.bytesRead()), 2))
                .field("flash_read_p50_us", stats.readP50Micros()).field("flash_read_p99_us", stats.readP99Micros())
                .field("flash_complete", stats.complete() ? 1 : 0).field("flash_given_up", stats.invalidations())
                .field("flash_status", stats.failing() ? "takes nothing" : "ok");
    }
}
