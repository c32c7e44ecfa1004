package io.varve.server.differential;

import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.varve.memory.Cache;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.server.Tiers;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.differential.random.RandomPressureCommands;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs commands on a full cache, under each evicting policy: memory for a command is never reclaimed from the keys that
 * it names. The reply, and the keys' values afterwards, are those of a real Redis that evicts nothing. If Varve refuses
 * a command for lack of memory, the keys are unchanged. Confined to the test's thread.
 *
 * <p>Maintenance runs between commands only, on this thread: an eviction by it would be as valid as one by another
 * client's write, and indistinguishable from a fault.
 *
 * <p>{@code -Dvarve.differential.pinned-keys=N} sets the number of commands, {@code -Dvarve.differential.seed=N} and
 * {@code -Dvarve.differential.policy=ALLKEYS_LFU} repeat a run.
 */
class PinnedKeysDifferentialTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int DRAWS = TestBudget.ofInt("varve.differential.pinned-keys", 300, 4_000);
    private static final int MAXMEMORY = 16 << 20;
    /**
     * As with two processors: with many and so little memory, the space for one large result depends on where others
     * lie.
     */
    private static final String SHARDS = "8";
    private static final int MIN_BYTES = 10_000;
    private static final int MAX_BYTES = MAXMEMORY / 3;
    private static final String FILLER = "v".repeat(900);
    private static final int FILLERS = 20_000;
    private static final int PIPELINE = 200;
    private static final Set<String> UNORDERED = Set.of("HGETALL", "HKEYS", "HVALS", "SMEMBERS", "SUNION", "SINTER",
            "SDIFF");
    /** Keys, what is made of them and the request together: below that, no command is refused. */
    private static final int SURELY_FITS = MAXMEMORY * 2 / 5;

    private static final int MAX_REFUSED_PART = 200;
    /** Keys that hold so much may take all memory, as their capacity is up to twice as large. */
    private static final int MUCH_BYTES = MAXMEMORY / 8;
    /** An incomplete request of this size may find no contiguous memory although others could go. */
    private static final int LARGE_REQUESTS_BYTES = MAXMEMORY / 16;

    private static final int THREADS = 2;
    private static final long RECEIVED_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final byte[] ASK = RawClient.encode("INFO", "stats");
    /** A request from about this length on may be kept in memory for which others are evicted. */
    private static final int MIN_KEPT_BYTES = 900;
    private static final int LARGE_ARGUMENT_BYTES = 70_000;

    @TempDir
    Path folder;

    /** A cache without maintenance of its own. */
    private static Cache withoutMaintenance(Cache cache) {
        return (Cache) Proxy.newProxyInstance(Cache.class.getClassLoader(), new Class<?>[] {Cache.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("maintain")) {
                        return TimeUnit.SECONDS.toNanos(1);
                    }
                    try {
                        return method.invoke(cache, arguments);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                });
    }

    private static ServerConfig config(EvictionPolicy policy) {
        return ServerConfig.defaults().with("port", "0").with("io-threads", "1").with("shards", SHARDS)
                .with("maxmemory", Integer.toString(MAXMEMORY))
                .with("maxmemory-policy", policy.redisName());
    }

    @Test
    void aCommandFindsTheKeysThatItNames() throws Exception {
        String named = System.getProperty("varve.differential.policy", "");
        List<EvictionPolicy> policies = Stream.of(EvictionPolicy.values()).filter(EvictionPolicy::evicts)
                .filter(policy -> named.isEmpty() || policy.name().equals(named)).toList();
        List<Callable<Run>> runs = new ArrayList<>();
        for (EvictionPolicy policy : policies) {
            runs.add(() -> run(config(policy), policy, DRAWS / policies.size()));
        }
        runAll(runs);
    }

    /** An evicted item is demoted to flash, and is fetched when a command names it. */
    @Test
    void aCommandOverFlashFindsTheKeysThatItNames() throws Exception {
        List<EvictionPolicy> policies = List.of(EvictionPolicy.ALLKEYS_LRU, EvictionPolicy.VOLATILE_LRU);
        List<Callable<Run>> runs = new ArrayList<>();
        for (EvictionPolicy policy : policies) {
            String directory = folder.resolve(policy.redisName()).toString();
            runs.add(() -> run(config(policy).with("flash-dir", directory).with("flash-max-items", "100000"), policy,
                    DRAWS / policies.size() / 18));
        }
        runAll(runs);
    }

    private static void runAll(List<Callable<Run>> runs) throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            int done = 0;
            int refusedThoughItFits = 0;
            for (Future<Run> future : threads.invokeAll(runs)) {
                Run run = future.get();
                System.out.println("PinnedKeysDifferentialTest: " + run);
                done += run.done;
                refusedThoughItFits += run.refusedThoughItFits;
            }
            assertThat(refusedThoughItFits).as("refused although others could go, of %d", done)
                    .isLessThanOrEqualTo(1 + done / MAX_REFUSED_PART);
        }
    }

    private static Run run(ServerConfig wanted, EvictionPolicy policy, int draws)
            throws IOException, InterruptedException {
        ServerConfig config = wanted.validate();
        long seed = TestBudget.seed("varve.differential.seed");
        Tiers tiers = Tiers.open(config);
        Cache cache = tiers.cache();
        try (ReferenceRedis reference = ReferenceRedis.start();
                VarveServer server = servers.start(config, new Tiers(withoutMaintenance(cache), tiers.flash()));
                RawClient watcher = new RawClient(server.port());
                RawClient redis = new RawClient(reference.port())) {
            Run run = new Run(policy, draws, new SplittableRandom(seed), watcher);
            run.against(cache, server.port(), redis);
            return run;
        } catch (AssertionError | IOException failed) {
            throw new AssertionError(policy + " with seed " + seed + ": " + failed.getMessage(), failed);
        }
    }

    private static final List<String> KEYS = List.of("k", "o", "d", "e");

    /** The draws under one policy. Confined to a thread. */
    private static final class Run {
        private final EvictionPolicy policy;
        private final int draws;
        private final SplittableRandom seeds;
        private int done;
        private int refused;
        /** Eviction gives up after a round over the shards: that may happen with others left, but seldom. */
        private int refusedThoughItFits;
        private int nextFiller;
        /** The bytes that this draw wanted its keys to hold. */
        private int madeBytes;
        /** The bytes of this draw's longer requests. */
        private long sentBytes;
        /** Another connection, which sees what there is before a command runs. */
        private final RawClient watcher;

        Run(EvictionPolicy policy, int draws, SplittableRandom seeds, RawClient watcher) {
            this.watcher = watcher;
            this.policy = policy;
            this.draws = draws;
            this.seeds = seeds;
        }

        @Override
        public String toString() {
            return policy + ": " + done + " commands, " + refused + " of them refused";
        }

        void against(Cache cache, int port, RawClient redis) throws IOException {
            RawClient varve = new RawClient(port);
            try {
                fill(varve);
                while (done < draws) {
                    try {
                        draw(seeds.nextLong(), varve, redis);
                    } catch (EOFException | SocketException closed) {
                        // Part of a request was received, and nothing could go for what it needs.
                        if (madeBytes < MUCH_BYTES && sentBytes < LARGE_REQUESTS_BYTES) {
                            throw closed;
                        }
                        if (3L * (madeBytes + sentBytes) < SURELY_FITS) {
                            countThoughItFits("closed with " + madeBytes + " bytes made and " + sentBytes + " sent");
                        }
                        refused++;
                        varve.close();
                        varve = new RawClient(port);
                    }
                    done++;
                    cache.maintain();
                }
                assertThat(cache.checkIntegrity()).isEmpty();
                assertThat(gone(varve)).as("the cache was full").isGreaterThan(draws);
            } finally {
                varve.close();
            }
        }

        /** The number of evicted items, to flash or for good. */
        private static long gone(RawClient varve) throws IOException {
            String stats = varve.call("INFO", "everything").text();
            long gone = 0;
            for (String field : List.of("evicted_keys:", "flash_written:", "flash_shed:")) {
                int at = stats.indexOf("\n" + field);
                gone += at < 0
                        ? 0
                        : Long.parseLong(stats.substring(at + 1 + field.length(), stats.indexOf('\r', at + 1)));
            }
            return gone;
        }

        /** Until something had to go for it. */
        private void fill(RawClient varve) throws IOException {
            long before = gone(varve);
            for (int sent = 0; sent < FILLERS; sent += PIPELINE) {
                for (int i = 0; i < PIPELINE; i++) {
                    String key = "filler" + nextFiller++ % FILLERS;
                    if (policy.onlyVolatile()) {
                        varve.queue("SET", key, FILLER, "EX", "100000");
                    } else {
                        varve.queue("SET", key, FILLER);
                    }
                }
                varve.flush();
                for (int i = 0; i < PIPELINE; i++) {
                    assertThat(varve.read().text()).isEqualTo("OK");
                }
                if (sent % (10 * PIPELINE) == 0 && gone(varve) > before) {
                    return;
                }
            }
        }

        private void draw(long seed, RawClient varve, RawClient redis) throws IOException {
            RandomPressureCommands random = new RandomPressureCommands(seed, MIN_BYTES, MAX_BYTES);
            for (RawClient client : List.of(varve, redis)) {
                client.call("SELECT", "1");
                client.call("DEL", "k", "o", "d", "e");
                client.call("SELECT", "0");
                client.call("DEL", "k", "o", "d", "e");
            }
            fill(varve);
            RandomPressureCommands.Type type = random.type();
            int bytes = random.size();
            int otherBytes = Math.min(random.size(), MAX_BYTES - bytes / 2);
            boolean hasOther = random.chance(2);
            madeBytes = bytes + (hasOther ? otherBytes : 0);
            sentBytes = 0;
            if (hasOther
                    && !make(random.make("o", random.chance(4) ? random.type() : type, otherBytes), varve, redis)) {
                return;
            }
            if (!make(random.make("k", type, bytes), varve, redis)) {
                return;
            }
            if (policy.onlyVolatile() && !random.chance(4)) {
                same(List.of("EXPIRE", "k", "5000"), varve, redis);
                same(List.of("EXPIRE", "o", "5000"), varve, redis);
            }
            assertThat(varve.call("EXISTS", "k").integer()).as("what was just made is there").isOne();
            // Creating the one may have evicted the other: no command named it.
            forgetIfEvicted("o", varve, redis);
            List<List<String>> commands = new ArrayList<>();
            int count = random.chance(3) ? 2 + random.below(2) : 1;
            for (int i = 0; i < count; i++) {
                commands.add(random.command(type, bytes));
            }
            long argumentBytes = commands.stream().flatMap(List::stream).mapToLong(String::length).sum();
            boolean surelyFits = count == 1
                    && 3L * bytes + 2L * (hasOther ? otherBytes : 0) + 3 * argumentBytes < SURELY_FITS;
            String what = type + " of " + bytes + (hasOther ? ", another of " + otherBytes : "") + ": "
                    + commands.stream().map(Run::shown).toList();
            if (count > 1) {
                runTransaction(commands, what, varve, redis);
            } else {
                runCommand(commands.getFirst(), surelyFits, what, varve, redis);
            }
            for (String key : List.of("k", "o")) {
                if (commands.stream().noneMatch(command -> command.contains(key))) {
                    forgetIfEvicted(key, varve, redis);
                }
            }
            compareKeys(what, varve, redis);
        }

        private void forgetEvicted(RawClient redis) throws IOException {
            for (String key : List.of("k", "o")) {
                forgetIfEvicted(key, watcher, redis);
            }
        }

        /** Bytes that the server has received. */
        private static long received(RawClient client) throws IOException {
            String stats = client.send(ASK).read().text();
            int at = stats.indexOf("total_net_input_bytes:") + "total_net_input_bytes:".length();
            return Long.parseLong(stats.substring(at, stats.indexOf('\r', at)));
        }

        private static void forgetIfEvicted(String key, RawClient varve, RawClient redis) throws IOException {
            if (varve.call("EXISTS", key).integer() == 0) {
                redis.call("DEL", key);
            }
        }

        private static String shown(List<String> command) {
            return String.join(" ",
                    command.stream().map(word -> word.length() < 30 ? word : word.length() + " bytes").toList());
        }

        /** @return false if Varve has no memory for it */
        private boolean make(List<List<String>> commands, RawClient varve, RawClient redis) throws IOException {
            for (List<String> command : commands) {
                RawReply made = callInTwoParts(command.toArray(String[]::new), shown(command), varve, redis);
                if (made.text().startsWith("OOM")) {
                    return false;
                }
                assertThat(made.text()).as(shown(command)).isEqualTo(redis.call(command.toArray(String[]::new)).text());
            }
            return true;
        }

        private static void same(List<String> command, RawClient varve, RawClient redis) throws IOException {
            varve.call(command.toArray(String[]::new));
            redis.call(command.toArray(String[]::new));
        }

        private void runCommand(List<String> command, boolean surelyFits, String what, RawClient varve,
                RawClient redis) throws IOException {
            String[] words = command.toArray(String[]::new);
            RawReply reply = callInTwoParts(words, what, varve, redis);
            if (reply.text().startsWith("OOM")) {
                refused++;
                if (surelyFits) {
                    countThoughItFits(what);
                }
                return;
            }
            assertThat(canonical(command, reply)).as(what).isEqualTo(canonical(command, redis.call(words)));
        }

        /**
         * Sends a request in two parts. The server keeps an incomplete request, which may evict any key; a large
         * argument does not evict the keys in front of it.
         */
        private RawReply callInTwoParts(String[] words, String what, RawClient varve, RawClient redis)
                throws IOException {
            byte[] request = RawClient.encode(words);
            if (request.length < MIN_KEPT_BYTES) {
                return varve.send(request).read();
            }
            sentBytes += request.length;
            int expected = request.length - 1;
            long before = received(watcher);
            varve.send(Arrays.copyOf(request, expected));
            long deadline = System.nanoTime() + RECEIVED_WITHIN_NANOS;
            for (int requested = 1; received(watcher) - before
                    - (long) requested * ASK.length < expected; requested++) {
                if (System.nanoTime() - deadline > 0) {
                    throw new SocketException("The server reads no more of " + what);
                }
            }
            boolean isLarge = words[1].equals("k") && redisHas(redis, "k")
                    && Stream.of(words).anyMatch(word -> word.length() > LARGE_ARGUMENT_BYTES);
            assertThat(!isLarge || watcher.call("EXISTS", "k").integer() == 1)
                    .as("k goes for an argument behind it: " + what).isTrue();
            forgetEvicted(redis);
            return varve.send(Arrays.copyOfRange(request, expected, request.length)).read();
        }

        private void countThoughItFits(String what) {
            System.out.println("PinnedKeysDifferentialTest: refused although others could go: " + policy + " " + what);
            refusedThoughItFits++;
        }

        private static boolean redisHas(RawClient redis, String key) throws IOException {
            return redis.call("EXISTS", key).integer() == 1;
        }

        /** Redis runs what Varve did not refuse. */
        private void runTransaction(List<List<String>> commands, String what, RawClient varve,
                RawClient redis) throws IOException {
            varve.queue("MULTI");
            for (List<String> command : commands) {
                varve.queue(command.toArray(String[]::new));
                sentBytes += command.stream().mapToLong(String::length).sum();
            }
            varve.flush();
            for (int i = 0; i <= commands.size(); i++) {
                String queued = varve.read().text();
                assertThat(queued.startsWith("OOM") || List.of("OK", "QUEUED").contains(queued)).as(what + " " + queued)
                        .isTrue();
            }
            // To queue one command evicts what only a later one names.
            forgetEvicted(redis);
            RawReply replies = varve.call("EXEC");
            if (replies.isError()) {
                assertThat(replies.text()).as(what).startsWith("EXECABORT");
                refused++;
                return;
            }
            for (int i = 0; i < commands.size(); i++) {
                RawReply reply = replies.elements().get(i);
                if (reply.text().startsWith("OOM")) {
                    refused++;
                } else {
                    List<String> command = commands.get(i);
                    assertThat(canonical(command, reply)).as(what + ", number " + i)
                            .isEqualTo(canonical(command, inTransaction(command, redis)));
                }
            }
        }

        /** In one of its own, where a command that may wait does not. */
        private static RawReply inTransaction(List<String> command, RawClient redis) throws IOException {
            redis.call("MULTI");
            redis.call(command.toArray(String[]::new));
            return redis.call("EXEC").elements().getFirst();
        }

        private static List<String> canonical(List<String> command, RawReply reply) {
            List<String> texts = new ArrayList<>();
            String name = command.getFirst();
            if (name.equals("DUMP") && !reply.isNull()) {
                // Payloads differ, and what is in them is compared where they are restored.
                return List.of("a payload");
            }
            int width = name.equals("HGETALL") ? 2 : 1;
            List<RawReply> elements = reply.elements();
            for (int i = 0; i + width <= elements.size(); i += width) {
                StringBuilder text = new StringBuilder();
                elements.subList(i, i + width)
                        .forEach(element -> text.append(element.kind()).append(hashed(element)).append(' '));
                texts.add(text.toString());
            }
            if (UNORDERED.contains(name)) {
                Collections.sort(texts);
            }
            texts.add(reply.kind() + (elements.isEmpty() ? hashed(reply) : Integer.toString(elements.size())));
            return texts;
        }

        private static String hashed(RawReply reply) {
            String text = reply.elements().isEmpty() ? reply.text() : reply.elements().toString();
            return text.length() < 60 ? text : text.length() + " bytes, " + text.hashCode();
        }

        /** All of them are read in one transaction: to reply one of them is no reason for another to go. */
        private void compareKeys(String what, RawClient varve, RawClient redis) throws IOException {
            for (String database : List.of("0", "1")) {
                varve.call("SELECT", database);
                redis.call("SELECT", database);
                List<List<String>> reads = new ArrayList<>();
                for (String key : KEYS) {
                    String type = redis.call("TYPE", key).text();
                    assertThat(varve.call("TYPE", key).text())
                            .as("type of " + key + " in " + database + " after " + what)
                            .isEqualTo(type);
                    reads.add(switch (type) {
                        case "string" -> List.of("GET", key);
                        case "list" -> List.of("LRANGE", key, "0", "-1");
                        case "hash" -> List.of("HGETALL", key);
                        case "set" -> List.of("SMEMBERS", key);
                        case "zset" -> List.of("ZRANGE", key, "0", "-1", "WITHSCORES");
                        default -> List.of("EXISTS", key);
                    });
                    assertThat(varve.call("TTL", key).integer() > 0).as("time of " + key + " after " + what)
                            .isEqualTo(redis.call("TTL", key).integer() > 0);
                }
                queue(reads, varve);
                // As in runTransaction, to queue one read may evict what only a later one names.
                forgetEvicted(database, redis);
                List<RawReply> held = varve.call("EXEC").elements();
                queue(reads, redis);
                List<RawReply> expected = redis.call("EXEC").elements();
                if (held.isEmpty()) {
                    assertThat(madeBytes).as("no memory for a reply with all keys after " + what)
                            .isGreaterThanOrEqualTo(MUCH_BYTES);
                    continue;
                }
                for (int i = 0; i < reads.size(); i++) {
                    assertThat(canonical(reads.get(i), held.get(i)))
                            .as(reads.get(i) + " in " + database + " after " + what)
                            .isEqualTo(canonical(reads.get(i), expected.get(i)));
                }
            }
            varve.call("SELECT", "0");
            redis.call("SELECT", "0");
        }

        private static void queue(List<List<String>> reads, RawClient client) throws IOException {
            client.queue("MULTI");
            for (List<String> one : reads) {
                client.queue(one.toArray(String[]::new));
            }
            client.flush();
            for (int i = 0; i <= reads.size(); i++) {
                client.read();
            }
        }

        private void forgetEvicted(String database, RawClient redis) throws IOException {
            watcher.call("SELECT", database);
            for (String key : KEYS) {
                forgetIfEvicted(key, watcher, redis);
            }
            watcher.call("SELECT", "0");
        }
    }
}
