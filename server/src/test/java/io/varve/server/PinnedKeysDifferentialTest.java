package io.varve.server;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.memory.Cache;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Commands on a full cache, under each policy that evicts: what a command needs room for is never made room for by the keys that it names.
 * The reply, and what the keys hold afterwards, are those of a real Redis that evicts nothing; where Varve refuses a command for want of memory
 * the keys are as they were. Confined to the test's thread.
 *
 * <p>Maintenance runs between commands only, on this thread: what it evicted there would be as right as what another client's write evicts, and
 * could not be told from a fault.
 *
 * <p>{@code -Dvarve.differential.pinned-keys=N} says how many commands are drawn, {@code -Dvarve.differential.seed=N} repeats a run.
 */
class PinnedKeysDifferentialTest {
    private static final int DRAWS = Integer.getInteger("varve.differential.pinned-keys", 2000);
    private static final int MAXMEMORY = 16 << 20;
    private static final int LEAST_BYTES = 10_000;
    private static final int MOST_BYTES = MAXMEMORY / 3;
    private static final String FILLER = "v".repeat(900);
    private static final int FILLERS = 20_000;
    private static final int PIPELINE = 200;
    private static final Set<String> UNORDERED = Set.of("HGETALL", "HKEYS", "HVALS", "SMEMBERS", "SUNION", "SINTER", "SDIFF");
    /** Keys, what is made of them and the request together: below that, no command is refused. */
    private static final int SURELY_FITS = MAXMEMORY * 2 / 5;

    private final SplittableRandom seeds = new SplittableRandom(Long.getLong("varve.differential.seed", System.nanoTime()));
    private final Map<EvictionPolicy, Integer> refusals = new EnumMap<>(EvictionPolicy.class);
    private int nextFiller;

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
        return ServerConfig.defaults().with("port", "0").with("io-threads", "1").with("maxmemory", Integer.toString(MAXMEMORY))
                .with("maxmemory-policy", policy.redisName()).validate();
    }

    @Test
    void aCommandFindsTheKeysThatItNames() throws Exception {
        List<EvictionPolicy> policies = new ArrayList<>(List.of(EvictionPolicy.values()));
        policies.remove(EvictionPolicy.NOEVICTION);
        try (ReferenceRedis reference = ReferenceRedis.start()) {
            System.out.println("PinnedKeysDifferentialTest compares with " + reference);
            for (EvictionPolicy policy : policies) {
                run(policy, reference, DRAWS / policies.size());
            }
        }
        System.out.println("PinnedKeysDifferentialTest: no difference in " + DRAWS + " commands; refused by policy " + refusals);
    }

    private void run(EvictionPolicy policy, ReferenceRedis reference, int draws) throws IOException {
        ServerConfig config = config(policy);
        try (Cache cache = Cache.open(config.cacheConfig());
                VarveServer server = VarveServer.start(config, withoutMaintenance(cache));
                RawClient varve = new RawClient(server.port());
                RawClient redis = new RawClient(reference.port())) {
            redis.call("FLUSHALL");
            fill(varve, policy, FILLERS);
            for (int i = 0; i < draws; i++) {
                long seed = seeds.nextLong();
                try {
                    draw(policy, seed, varve, redis);
                } catch (AssertionError | IOException failed) {
                    throw new AssertionError(policy + ", draw " + i + ", seed " + seed + ": " + failed.getMessage(), failed);
                }
                cache.maintain();
            }
            assertThat(cache.checkIntegrity()).isEmpty();
            assertThat(varve.infoLong("evicted_keys")).as("the cache was full").isGreaterThan(draws);
        }
    }

    /** Until something had to go for it. */
    private void fill(RawClient varve, EvictionPolicy policy, int most) throws IOException {
        long before = varve.infoLong("evicted_keys");
        for (int sent = 0; sent < most; sent += PIPELINE) {
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
            if (sent % (10 * PIPELINE) == 0 && varve.infoLong("evicted_keys") > before) {
                return;
            }
        }
    }

    private void draw(EvictionPolicy policy, long seed, RawClient varve, RawClient redis) throws IOException {
        RandomPressureCommands random = new RandomPressureCommands(seed, LEAST_BYTES, MOST_BYTES);
        for (RawClient client : List.of(varve, redis)) {
            client.call("SELECT", "1");
            client.call("DEL", "k", "o", "d", "e");
            client.call("SELECT", "0");
            client.call("DEL", "k", "o", "d", "e");
        }
        fill(varve, policy, FILLERS);
        RandomPressureCommands.Type type = random.type();
        int bytes = random.size();
        int otherBytes = Math.min(random.size(), MOST_BYTES - bytes / 2);
        boolean hasOther = random.chance(2);
        if (hasOther && !make(random.make("o", random.chance(4) ? random.type() : type, otherBytes), varve, redis)) {
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
        // To make the one the other may have gone: nothing named it.
        forgetIfEvicted("o", varve, redis);
        List<List<String>> commands = new ArrayList<>();
        int count = random.chance(3) ? 2 + random.below(2) : 1;
        for (int i = 0; i < count; i++) {
            commands.add(random.command(type, bytes));
        }
        long argumentBytes = commands.stream().flatMap(List::stream).mapToLong(String::length).sum();
        boolean surelyFits = count == 1 && 3L * bytes + 2L * (hasOther ? otherBytes : 0) + 3 * argumentBytes < SURELY_FITS;
        String what = type + " of " + bytes + (hasOther ? ", another of " + otherBytes : "") + ": "
                + commands.stream().map(PinnedKeysDifferentialTest::shown).toList();
        if (count > 1) {
            runTransaction(policy, commands, what, varve, redis);
        } else {
            runCommand(policy, commands.getFirst(), surelyFits, what, varve, redis);
        }
        if (commands.stream().noneMatch(command -> command.contains("o"))) {
            forgetIfEvicted("o", varve, redis);
        }
        compareKeys(what, varve, redis);
    }

    private static void forgetIfEvicted(String key, RawClient varve, RawClient redis) throws IOException {
        if (varve.call("EXISTS", key).integer() == 0) {
            redis.call("DEL", key);
        }
    }

    private static String shown(List<String> command) {
        return String.join(" ", command.stream().map(word -> word.length() < 30 ? word : word.length() + " bytes").toList());
    }

    /** @return false if Varve has no memory for it */
    private boolean make(List<List<String>> commands, RawClient varve, RawClient redis) throws IOException {
        for (List<String> command : commands) {
            RawReply made = varve.call(command.toArray(String[]::new));
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

    private void runCommand(EvictionPolicy policy, List<String> command, boolean surelyFits, String what, RawClient varve,
            RawClient redis) throws IOException {
        String[] words = command.toArray(String[]::new);
        RawReply reply = varve.call(words);
        if (reply.text().startsWith("OOM")) {
            refusals.merge(policy, 1, Integer::sum);
            assertThat(surelyFits).as("refused although others could go: " + what).isFalse();
            return;
        }
        assertThat(canonical(command, reply)).as(what).isEqualTo(canonical(command, redis.call(words)));
    }

    /** Redis runs what Varve did not refuse. */
    private void runTransaction(EvictionPolicy policy, List<List<String>> commands, String what, RawClient varve,
            RawClient redis) throws IOException {
        varve.queue("MULTI");
        for (List<String> command : commands) {
            varve.queue(command.toArray(String[]::new));
        }
        varve.queue("EXEC");
        varve.flush();
        for (int i = 0; i <= commands.size(); i++) {
            String queued = varve.read().text();
            assertThat(queued.startsWith("OOM") || List.of("OK", "QUEUED").contains(queued)).as(what + " " + queued).isTrue();
        }
        RawReply replies = varve.read();
        if (replies.isError()) {
            assertThat(replies.text()).as(what).startsWith("EXECABORT");
            refusals.merge(policy, 1, Integer::sum);
            return;
        }
        for (int i = 0; i < commands.size(); i++) {
            RawReply reply = replies.elements().get(i);
            if (reply.text().startsWith("OOM")) {
                refusals.merge(policy, 1, Integer::sum);
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
            elements.subList(i, i + width).forEach(element -> text.append(element.kind()).append(hashed(element)).append(' '));
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
    private static void compareKeys(String what, RawClient varve, RawClient redis) throws IOException {
        for (String database : List.of("0", "1")) {
            varve.call("SELECT", database);
            redis.call("SELECT", database);
            List<List<String>> reads = new ArrayList<>();
            for (String key : List.of("k", "o", "d", "e")) {
                String type = redis.call("TYPE", key).text();
                assertThat(varve.call("TYPE", key).text()).as("type of " + key + " in " + database + " after " + what)
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
            List<RawReply> held = read(reads, varve);
            List<RawReply> expected = read(reads, redis);
            for (int i = 0; i < reads.size(); i++) {
                assertThat(canonical(reads.get(i), held.get(i))).as(reads.get(i) + " in " + database + " after " + what)
                        .isEqualTo(canonical(reads.get(i), expected.get(i)));
            }
        }
        varve.call("SELECT", "0");
        redis.call("SELECT", "0");
    }

    private static List<RawReply> read(List<List<String>> reads, RawClient client) throws IOException {
        client.queue("MULTI");
        for (List<String> one : reads) {
            client.queue(one.toArray(String[]::new));
        }
        client.queue("EXEC");
        client.flush();
        for (int i = 0; i <= reads.size(); i++) {
            client.read();
        }
        return client.read().elements();
    }
}
