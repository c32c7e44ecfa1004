package io.varve.experiments.plan;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

import io.varve.cluster.map.HashSlot;
import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.Experiment.Configuration;
import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.definition.Experiment.Scale;
import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.flash.policy.Policies;

/**
 * The requested runs, in execution order. Immutable. All configurations of a cell follow one another, so that an
 * interrupted matrix has whole cells to compare.
 *
 * @param experiment its definition
 * @param scaleName name of the part of the matrix
 * @param scale that part
 * @param configurations the servers under test, with those of {@code --against}
 * @param runs the runs to execute
 * @param missing configurations that cannot run on this machine, and why, a sentence each
 */
public record Plan(Experiment experiment, String scaleName, Scale scale, Map<String, Configuration> configurations,
        List<RunSpec> runs, Map<String, String> missing) {
    /** Unthrottled operations a second of YCSB with one client thread on a core of a machine with two. */
    private static final int ASSUMED_ONE_CLIENT_RATE = 13_000;
    /** As the rate of one thread, with several: the core of the load or of the server is then the limit. */
    private static final int ASSUMED_CLIENTS_RATE = 18_000;
    /** Time until a client of YCSB has started and ended, beside its operations. */
    private static final int CLIENT_START_SECONDS = 2;
    /** Time to start a server and YCSB's JVMs, and to write the files. */
    private static final int OVERHEAD_SECONDS = 4;
    /** Assumed rate of our own pipelined loader, for the estimate only. */
    private static final int ASSUMED_LOADER_RATE = 200_000;
    /** Assumed rate of that loader on two alternating connections. */
    private static final int ASSUMED_ALTERNATING_RATE = 500_000;
    /** Time until resident memory has shrunk after a FLUSHALL, and until a rehash has ended. */
    private static final int ASSUMED_SETTLE_SECONDS = 20;
    /** Pauses after FLUSHALL and after the last load, and the walk through all keys. */
    private static final int FRAGMENTATION_PAUSES_SECONDS = 15;
    /** The probe of the machine before, and the pause after the fill. */
    private static final int LATENCY_PAUSES_SECONDS = 12;
    /** Assumed writes a second of one thread to the memory tier while it cleans, for the estimate only. */
    private static final int ASSUMED_SIMULATED_RATE = 5_000_000;
    private static final int ASSUMED_STORE_RATE = 40_000;
    /** Requests a second of two clients whose misses read from the device. */
    private static final int ASSUMED_DEVICE_RATE = 8_000;
    /** Keys a second with which a policy is filled. */
    private static final int ASSUMED_FILL_RATE = 5_000_000;
    private static final int ASSUMED_TIER_RATE = 1_000_000;
    /** Operations a second of two clients in front of two databases with delays. */
    private static final int ASSUMED_CACHE_ASIDE_RATE = 2_000;
    /** Rate of redis-benchmark, over pipelines of 1, 16 and 64. */
    private static final int ASSUMED_BENCHMARK_RATE = 200_000;
    /** Number of redis-benchmark's default tests, those with long replies weighted by their duration. */
    private static final int WARM_UP_TESTS = 30;
    /** Requests a second of one client that waits for each reply. */
    private static final int ASSUMED_SINGLE_RATE = 18_000;
    /** Keys a second whose slots are drawn. */
    private static final int ASSUMED_DRAW_RATE = 1_000_000_000;
    /** Identifiers, or hashes of a slot and a member, a second; all are computed for three clusters. */
    private static final int ASSUMED_PLACEMENT_RATE = 3_000_000;
    /** Request streams whose curves are learnt, and requests a second of one of them. */
    private static final int CURVE_STREAMS = 16;
    private static final int ASSUMED_CURVE_RATE = 300_000;
    /** Keys a second that a client reads from a primary and from its replica, to compare them. */
    private static final int ASSUMED_COMPARED_RATE = 300_000;

    /** The earlier name of the configuration {@link #OURS}, which {@code --config} still takes. */
    private static final String EARLIER_NAME = "wheel";
    private static final String OURS = "Varve";

    public static Plan of(Experiment experiment, String scaleName, Filters filters) {
        Scale scale = experiment.scales().get(scaleName);
        if (scale == null) {
            throw new InvalidExperimentException("scale '" + scaleName + "': experiment " + experiment.name()
                    + " has " + String.join(", ", experiment.scales().keySet()));
        }
        Map<String, Configuration> configurations = configurations(experiment, scale, filters.against());
        List<String> names = withWorkingSetRun(experiment, scale,
                chosen("config", current(experiment, filters.configurations()),
                        new ArrayList<>(configurations.keySet()),
                        experiment.configurations().keySet().stream().toList()));
        names.forEach(name -> configurations.computeIfAbsent(name, absent -> configuration(experiment, absent)));
        configurations.keySet().retainAll(names);
        List<String> workloads = chosen("workload", filters.workloads(), scale.workloads(),
                keys(experiment.workloads()));
        List<String> sizes = chosen("size", filters.sizes(), scale.sizes(), keys(experiment.sizes()));
        Set<RunSpec> runs = new LinkedHashSet<>();
        List<Scale> parts = scale.parts();
        if (parts != null || experiment.kind() == Kind.PENALTY) {
            requireInScale(scaleName, scale.workloads(), filters.workloads());
        }
        if (parts == null) {
            addRuns(runs, experiment, workloads, sizes, chosen(filters.ttls(), scale.ttls(), scale.ttls()),
                    chosen(filters.threads(), scale.threads(), scale.threads()),
                    List.copyOf(configurations.keySet()));
        } else {
            for (Scale part : parts) {
                addRuns(runs, experiment, intersection(workloads, part.workloads()), intersection(sizes, part.sizes()),
                        chosen(filters.ttls(), part.ttls(), scale.ttls()),
                        chosen(filters.threads(), part.threads(), scale.threads()),
                        configurations.keySet().stream()
                                .filter(name -> part.configurations().contains(name)
                                        || !scale.configurations().contains(name))
                                .toList());
            }
        }
        return new Plan(experiment, scaleName, scale, configurations, List.copyOf(runs), Map.of());
    }

    /** The names of configurations, with the current name in place of the earlier one. */
    private static List<String> current(Experiment experiment, List<String> names) {
        Map<String, Configuration> defined = experiment.configurations();
        boolean renamed = defined.containsKey(OURS) && !defined.containsKey(EARLIER_NAME);
        return names.stream().map(name -> renamed && name.equals(EARLIER_NAME) ? OURS : name).toList();
    }

    /** The penalty experiment always includes the server that measures the size of the memory: it comes first. */
    private static List<String> withWorkingSetRun(Experiment experiment, Scale scale, List<String> names) {
        if (experiment.kind() != Kind.PENALTY) {
            return names;
        }
        List<String> all = new ArrayList<>(scale.configurations().stream()
                .filter(name -> evictsNothing(configuration(experiment, name)) && !names.contains(name)).toList());
        all.addAll(names);
        return all;
    }

    /**
     * @throws InvalidExperimentException if a requested workload is not part of the scale: nothing would run, or
     *     something outside the scale
     */
    private static void requireInScale(String scaleName, List<String> all, List<String> workloads) {
        for (String name : workloads) {
            if (!all.contains(name)) {
                throw new InvalidExperimentException("--workload '" + name + "': scale " + scaleName + " has "
                        + String.join(", ", all));
            }
        }
    }

    private static <T> List<T> intersection(List<T> some, List<T> others) {
        return some.stream().filter(others::contains).toList();
    }

    /** The requested values that a part of the scale has; all of them if they are not the scale's. */
    private static <T> List<T> chosen(List<T> wanted, List<T> ofPart, List<T> ofScale) {
        return wanted.isEmpty() ? ofPart : ofScale.containsAll(wanted) ? intersection(wanted, ofPart) : wanted;
    }

    private static void addRuns(Set<RunSpec> runs, Experiment experiment, List<String> workloads, List<String> sizes,
            List<List<Integer>> ttlSets, List<Integer> threadCounts, List<String> configurations) {
        for (String workload : workloads) {
            for (String size : sizes) {
                for (List<Integer> ttls : ttlSets) {
                    for (int threads : threadCounts) {
                        for (String configuration : configurations) {
                            Kind kind = kind(experiment, workload);
                            if (isAlternating(kind) && experiment.baselines().contains(configuration)
                                    || comparesAll(kind) && !configuration.equals(configurations.getFirst())) {
                                continue;
                            }
                            runs.add(new RunSpec(workload, size, ttls, threads, configuration));
                        }
                    }
                }
            }
        }
    }

    /** The plan without the configurations that cannot run on this machine. */
    public Plan without(Map<String, String> absent) {
        return absent.isEmpty()
                ? this
                : new Plan(experiment, scaleName, scale, configurations,
                        runs.stream().filter(run -> !absent.containsKey(run.configuration())).toList(),
                        Map.copyOf(absent));
    }

    /** The kind of that run. */
    public Kind kind(RunSpec run) {
        return kind(experiment, run.workload());
    }

    private static Kind kind(Experiment experiment, String workload) {
        String own = experiment.workloads().getOrDefault(workload, Map.of()).get(Experiment.KIND);
        return own == null ? experiment.kind() : Kind.valueOf(own);
    }

    /** Whether the baseline has no run of its own, because it alternates in the others'. */
    public static boolean isAlternating(Kind kind) {
        return kind == Kind.THROUGHPUT || kind == Kind.PAPER_REQUESTS || kind == Kind.WARM_UP;
    }

    private static List<String> keys(Map<String, ?> map) {
        return List.copyOf(map.keySet());
    }

    private static Configuration configuration(Experiment experiment, String name) {
        Configuration configuration = experiment.configurations().get(name);
        if (configuration == null) {
            throw new InvalidExperimentException("configuration '" + name + "' is not defined");
        }
        return configuration;
    }

    /** The scale's configurations; named servers replace its other servers. */
    private static Map<String, Configuration> configurations(Experiment experiment, Scale scale, List<String> against) {
        Map<String, Configuration> result = new LinkedHashMap<>();
        for (String name : scale.configurations()) {
            Configuration configuration = configuration(experiment, name);
            if (against.isEmpty() || configuration.server() == Server.VARVE) {
                result.put(name, configuration);
            }
        }
        for (String target : against) {
            if (target.equals("redis")) {
                experiment.configurations().forEach((name, configuration) -> {
                    if (configuration.server() == Server.REDIS) {
                        result.put(name, configuration);
                    }
                });
            } else if (target.matches("[^:\\s]+:\\d{1,5}")) {
                result.put(target, new Configuration(Server.REMOTE, target, Map.of(), "the server at " + target,
                        null, null, null, null, null));
            } else if (!target.equals("varve")) {
                throw new InvalidExperimentException("--against '" + target + "': expected varve, redis, HOST:PORT");
            }
        }
        return result;
    }

    private static List<String> chosen(String option, List<String> wanted, List<String> ofScale, List<String> defined) {
        if (wanted.isEmpty()) {
            return ofScale;
        }
        for (String name : wanted) {
            if (!defined.contains(name) && !ofScale.contains(name)) {
                throw new InvalidExperimentException(
                        "--" + option + " '" + name + "': expected " + String.join(", ", new TreeSet<>(defined)));
            }
        }
        return wanted;
    }

    /** The configuration that alternates with each of the others; empty if there is none. */
    public Optional<String> rival() {
        return isAlternating(experiment.kind())
                ? configurations.keySet().stream().filter(experiment.baselines()::contains).findFirst()
                : Optional.empty();
    }

    /** Maximum number of event loops of a configuration; 1 if none states it. */
    public int maxEventLoops() {
        return configurations.values().stream().mapToInt(Configuration::eventLoops).max().orElse(1);
    }

    /** The servers' limit, in redis.conf syntax. */
    public String maxmemory() {
        String own = scale.maxmemory();
        return own == null ? experiment.maxmemory() : own;
    }

    /**
     * The servers' limit for that run: that of its workload for that kind of server or for all, else that of its part,
     * else that of all workloads.
     */
    public String maxmemory(RunSpec run) {
        Map<String, String> workload = workload(run);
        Configuration configuration = configurations.get(run.configuration());
        String ofServer = configuration == null
                ? null
                : workload.get("maxmemory-" + configuration.server().name().toLowerCase(Locale.ROOT));
        if (ofServer != null) {
            return ofServer;
        }
        List<Scale> parts = scale.parts();
        String ofPart = parts == null
                ? null
                : parts.stream().filter(part -> part.workloads().contains(run.workload())).map(Scale::maxmemory)
                        .filter(Objects::nonNull).findFirst().orElse(null);
        return workload.getOrDefault("maxmemory", ofPart == null ? maxmemory() : ofPart);
    }

    /** The workload's properties. */
    public Map<String, String> workload(RunSpec run) {
        return experiment.workloads().getOrDefault(run.workload(), Map.of());
    }

    /** Number of items of that run: that of its workload, else that of its size. */
    public long keys(RunSpec run) {
        String own = workload(run).get("keys");
        return own == null ? size(run).records() : Long.parseLong(own) / Math.max(1, size(run).divisor());
    }

    /** The load of the fragmentation experiment. */
    public FragmentationLoad fragmentation(RunSpec run) {
        return FragmentationLoad.of(workload(run), ByteSizes.parse(maxmemory(run)));
    }

    /** The load of the latency experiment. */
    public LatencyLoad latency(RunSpec run) {
        return LatencyLoad.of(workload(run));
    }

    /** The load of the warm-up experiment. */
    public WarmUpLoad warmUp(RunSpec run) {
        return WarmUpLoad.of(workload(run));
    }

    /** The load of the experiment on write-ahead logs. */
    public WriteAheadLogLoad writeAheadLog(RunSpec run) {
        return WriteAheadLogLoad.of(workload(run));
    }

    /** The threads and stores of the experiment on locks. */
    public LocksLoad locks(RunSpec run) {
        return LocksLoad.of(workload(run));
    }

    /** The cluster and the keys of the experiment on placement. */
    public PlacementLoad placement(RunSpec run) {
        return PlacementLoad.of(workload(run));
    }

    /** The cluster and the clients of the experiment on the proxy. */
    public ProxyLoad proxy(RunSpec run) {
        return ProxyLoad.of(workload(run));
    }

    /** The pairs of servers and the clients of the experiment on replication. */
    public ReplicationLoad replication(RunSpec run) {
        return ReplicationLoad.of(workload(run));
    }

    /** The requests of the paper's clients. */
    public RequestSet requests(RunSpec run) {
        return RequestSet.of(workload(run));
    }

    /** The load of the cleaner experiment. */
    public CleanerLoad cleaner(RunSpec run) {
        return CleanerLoad.of(workload(run), ByteSizes.parse(maxmemory(run)));
    }

    /** The load of the penalty experiment, and the size of its memory. */
    public PenaltyLoad penalty(RunSpec run) {
        return PenaltyLoad.of(run.workload(), workload(run));
    }

    /** The variant that alternates with its own server in the throughput experiment. */
    public Optional<ServerVariant> serverVariant(RunSpec run) {
        return ServerVariant.of(workload(run));
    }

    /** Whether a server never evicts: in the penalty experiment its final content is the working set. */
    public static boolean evictsNothing(Configuration configuration) {
        return "noeviction".equals(configuration.settings().get("maxmemory-policy"));
    }

    /** The run of this cell whose server never evicts; empty if it is not planned. */
    public Optional<RunSpec> workingSetRun(RunSpec run) {
        return runs.stream()
                .filter(each -> each.cell().equals(run.cell()) && evictsNothing(configuration(each))).findFirst();
    }

    /** The policies whose memory a run measures. */
    public List<Policies> policies(RunSpec run) {
        return SimulatedLoad.policies(workload(run));
    }

    /** The stores of the experiment with a real cache on flash. */
    public StoreSettings stores(RunSpec run) {
        return StoreSettings.of(workload(run));
    }

    /** The requests of a simulation. */
    public SimulatedLoad simulated(RunSpec run) {
        return SimulatedLoad.of(workload(run), keys(run));
    }

    /** Whether a run of the kind needs one server for its whole duration. */
    public static boolean hasServer(Kind kind) {
        return kind != Kind.CLEANER && kind != Kind.SIMULATED && kind != Kind.OBSERVED && kind != Kind.WARM_UP
                && kind != Kind.POLICY_MEMORY && kind != Kind.PLACEMENT && kind != Kind.CURVES && !comparesAll(kind);
    }

    /** Whether one run of the kind starts all configurations and compares them; it has the first one's name. */
    public static boolean comparesAll(Kind kind) {
        return kind == Kind.WRITE_AHEAD_LOG || kind == Kind.LOCKS || kind == Kind.PROXY || kind == Kind.REPLICATION;
    }

    /** The configurations that this machine can run, in their order. */
    public List<String> available() {
        return configurations.keySet().stream().filter(name -> !missing.containsKey(name)).toList();
    }

    public Size size(RunSpec run) {
        Size size = experiment.sizes().get(run.size());
        if (size == null) {
            throw new InvalidExperimentException("size '" + run.size() + "' is not defined");
        }
        return size;
    }

    public Configuration configuration(RunSpec run) {
        Configuration configuration = configurations.get(run.configuration());
        if (configuration == null) {
            throw new InvalidExperimentException("configuration '" + run.configuration() + "' is not defined");
        }
        return configuration;
    }

    /** Approximate duration of a run, in seconds. */
    public long estimateSeconds(RunSpec run) {
        Size size = size(run);
        return switch (kind(run)) {
            case YCSB -> {
                long fast = run.threads() == 1 ? ASSUMED_ONE_CLIENT_RATE : ASSUMED_CLIENTS_RATE;
                long load = size.loadCount() / (size.loadRate() > 0 ? size.loadRate() : fast);
                long operations = size.seconds() > 0 ? size.seconds() : size.operations() / fast;
                long clients = size.probeSeconds() > 0 ? 3 : 2;
                yield load + operations + run.maxTtlSeconds() + size.probeSeconds() + clients * CLIENT_START_SECONDS
                        + OVERHEAD_SECONDS;
            }
            case EXPIRY, MEMORY_FIT -> size.records() / ASSUMED_LOADER_RATE + size.seconds() + run.maxTtlSeconds()
                    + OVERHEAD_SECONDS;
            case THROUGHPUT -> {
                // Every contestant is warmed, then measured in each cell; the keys are written before each repetition.
                long contestants = rival().isPresent() ? 2 : 1;
                long trialSeconds = size.seconds() + 1L;
                long cells = words(run, "tests") * words(run, "pipelines");
                long switched = serverVariant(run).map(each -> (long) each.tests().size() * each.pipelines().size())
                        .orElse(0L);
                long settle = Long.parseLong(workload(run).getOrDefault("settle-requests", "0"))
                        / ASSUMED_BENCHMARK_RATE;
                yield contestants * size.warmupSeconds() * 3L / 2
                        + size.repetitions() * ((trialSeconds + settle) * (contestants * cells + switched)
                                + contestants * keys(run) / ASSUMED_LOADER_RATE)
                        + OVERHEAD_SECONDS;
            }
            case FRAGMENTATION ->
                2 * (fragmentation(run).commands() / ASSUMED_ALTERNATING_RATE) + FRAGMENTATION_PAUSES_SECONDS
                        + OVERHEAD_SECONDS;
            case LATENCY -> keys(run) / ASSUMED_ALTERNATING_RATE + size.warmupSeconds() + size.seconds()
                    + LATENCY_PAUSES_SECONDS + OVERHEAD_SECONDS;
            case PAPER_REQUESTS -> {
                long contestants = rival().isPresent() ? 2 : 1;
                long mixes = words(run, "reads") * words(run, "distributions")
                        * requests(run).pipelines().size();
                yield contestants * (size.warmupSeconds() + 2 * size.operations() / ASSUMED_SINGLE_RATE
                        + (long) size.repetitions() * size.seconds() * mixes + keys(run) / ASSUMED_LOADER_RATE + 1)
                        + OVERHEAD_SECONDS;
            }
            case CLEANER -> cleaner(run).writes() / ASSUMED_TIER_RATE + 1;
            case OBSERVED -> {
                SimulatedLoad load = simulated(run);
                int rate = stores(run).isDiskCached() ? ASSUMED_STORE_RATE : ASSUMED_DEVICE_RATE;
                // One more is the rehearsal.
                long caches = 1 + (long) load.policies().size() * load.percents().size();
                yield load.keys() / ASSUMED_STORE_RATE
                        + caches * (load.warmup() / ASSUMED_STORE_RATE + load.requests() / rate) + OVERHEAD_SECONDS;
            }
            case POLICY_MEMORY -> policies(run).size() * (1 + keys(run) / ASSUMED_FILL_RATE);
            case SIMULATED -> {
                SimulatedLoad load = simulated(run);
                yield (load.requests() + load.warmup()) * load.policies().size() * load.percents().size()
                        / ASSUMED_SIMULATED_RATE + 1;
            }
            case TIERED -> keys(run) / ASSUMED_ALTERNATING_RATE + size.warmupSeconds() + size.seconds()
                    + OVERHEAD_SECONDS;
            case SORTED_SET -> keys(run) / ASSUMED_ALTERNATING_RATE + 3L * size.seconds() + OVERHEAD_SECONDS;
            case EXPIRED_EVENTS -> {
                String ttls = workload(run).getOrDefault("ttls", "1-10");
                yield keys(run) / ASSUMED_LOADER_RATE + Long.parseLong(ttls.substring(ttls.indexOf('-') + 1))
                        + OVERHEAD_SECONDS;
            }
            case PENALTY -> {
                String target = penalty(run).client().get("target");
                long rate = target == null ? ASSUMED_CACHE_ASIDE_RATE : Long.parseLong(target);
                yield size.operations() / rate + 2 * OVERHEAD_SECONDS;
            }
            case WARM_UP -> {
                WarmUpLoad load = warmUp(run);
                long pass = size.operations() * WARM_UP_TESTS / ASSUMED_BENCHMARK_RATE;
                yield (rival().isPresent() ? 2L : 1L) * size.repetitions()
                        * (size.seconds() + pass + size.warmupSeconds() + load.pacedSeconds() + OVERHEAD_SECONDS);
            }
            case WRITE_AHEAD_LOG -> {
                long turns = words(run, "loads") * size.repetitions();
                yield available().size() * (turns * (size.seconds() + 1L) + size.warmupSeconds() + OVERHEAD_SECONDS);
            }
            case LOCKS -> {
                long contestants = words(run, "stores") + available().size();
                long mixes = words(run, "reads");
                yield contestants * (mixes * size.repetitions() * size.seconds() + size.warmupSeconds())
                        + OVERHEAD_SECONDS;
            }
            case PROXY -> {
                ProxyLoad load = proxy(run);
                yield load.turns() * (size.warmupSeconds() + (long) size.repetitions() * size.seconds())
                        + (load.members() + load.windows().size()) * (long) OVERHEAD_SECONDS;
            }
            case REPLICATION -> {
                ReplicationLoad load = replication(run);
                long writes = 3L * size.warmupSeconds() + 4L * size.seconds() + 2 * OVERHEAD_SECONDS;
                long synchronization = 2 * keys(run) / ASSUMED_LOADER_RATE + size.warmupSeconds() + size.seconds();
                long catchUp = keys(run) / ASSUMED_COMPARED_RATE + 2L * load.stoppedSeconds();
                long turn = synchronization + catchUp + 2 * OVERHEAD_SECONDS;
                yield size.repetitions() * (available().size() * writes + load.pairs(available()).size() * turn);
            }
            case CURVES -> CURVE_STREAMS * size.operations() / ASSUMED_CURVE_RATE + 1;
            case PLACEMENT -> {
                PlacementLoad load = placement(run);
                long slots = (2L + load.members()) * HashSlot.COUNT;
                long drawn = load.hashed() ? 0 : load.keys() / ASSUMED_DRAW_RATE;
                yield 1 + size.repetitions() * drawn
                        + size.repetitions() * (load.identifiersOfAllRings() + slots) / ASSUMED_PLACEMENT_RATE;
            }
            case MEMORY_PER_KEY -> 2 * keys(run) / ASSUMED_LOADER_RATE + ASSUMED_SETTLE_SECONDS + OVERHEAD_SECONDS;
        };
    }

    private long words(RunSpec run, String property) {
        String text = workload(run).getOrDefault(property, "");
        return text.isBlank() ? 0 : text.split(" ", -1).length;
    }

    /** Approximate duration of the given runs, in seconds, with this concurrency. */
    public long estimateSeconds(List<RunSpec> some, int atOnce) {
        return some.stream().mapToLong(this::estimateSeconds).sum() / Math.max(1, atOnce);
    }
}
