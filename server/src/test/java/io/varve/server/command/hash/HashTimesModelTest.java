package io.varve.server.command.hash;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random commands on hashes whose fields have times and on maps, compared, while time goes on; packed, trees, and on the way from one to
 * the other. Confined to the test's thread.
 */
class HashTimesModelTest {
    private static final int STEPS = Integer.getInteger("varve.model.operations", 4_000);
    private static final long NEVER = -1;
    private static final List<String> KEYS = List.of("h", "g", "i");

    /** A field: confined to the test's thread. */
    private static final class Field {
        private String value;
        private long time = NEVER;

        Field(String value) {
            this.value = value;
        }

        Field copy() {
            Field copy = new Field(value);
            copy.time = time;
            return copy;
        }
    }

    /** A hash. Confined to the test's thread. */
    private static final class Hash {
        private final Map<String, Field> fields = new TreeMap<>();
        private long expireAt = NEVER;

        Hash copy() {
            Hash copy = new Hash();
            fields.forEach((name, field) -> copy.fields.put(name, field.copy()));
            copy.expireAt = expireAt;
            return copy;
        }
    }

    private final Map<String, Hash> model = new HashMap<>();
    private SplittableRandom random = new SplittableRandom();
    private int fields;
    private String how = "";

    @ParameterizedTest
    @CsvSource({"0, 0, 10, wheel", "1, 8192, 10, bucket", "9, 8192, 20, wheel", "128, 300, 60, wheel",
            "128, 8192, 200, random", "1000000, 67108864, 60, bucket", "9, 8192, 900, wheel", "9, 8192, 400, random"})
    void randomCommandsLeaveWhatTheModelHas(int entries, int bytes, int names, String algorithm) {
        long seed = Long.getLong("varve.model.seed", System.nanoTime());
        fields = names;
        how = "packed-max-entries " + entries + ", " + names + " fields, " + algorithm + ", seed " + seed;
        System.out.println("HashTimesModelTest " + how);
        random = new SplittableRandom(seed);
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "2")
                .with("expire-algorithm", algorithm).with("expire-bucket-base-ms", "50").with("expire-buckets", "7")
                .with("packed-max-entries", Integer.toString(entries))
                .with("packed-max-bytes", Integer.toString(bytes));
        try (CommandHarness server = new CommandHarness(config)) {
            for (int step = 0; step < STEPS; step++) {
                pass(server);
                step(server, KEYS.get(random.nextInt(KEYS.size())));
                if (step % 200 == 0) {
                    KEYS.forEach(key -> compare(server, key));
                    assertThat(server.cache().checkIntegrity()).as(how).isEmpty();
                }
            }
            server.sleep(100_000_000);
            pass(server);
            for (int i = 0; i < 5000; i++) {
                server.sleep(100);
                server.cache().maintain();
            }
            assertThat(server.cache().checkIntegrity()).as(how).isEmpty();
            KEYS.forEach(key -> compare(server, key));
            assertThat(server.run("DBSIZE")).isEqualTo(":" + model.size() + "\r\n");
        }
    }

    /** Whatever is due goes. */
    private void pass(CommandHarness server) {
        if (random.nextInt(4) == 0) {
            server.sleep(random.nextInt(20));
        }
        if (random.nextInt(10) == 0) {
            server.cache().maintain();
        }
        long now = server.now();
        model.values().removeIf(hash -> {
            hash.fields.values().removeIf(field -> field.time != NEVER && now > field.time);
            return hash.fields.isEmpty() || hash.expireAt != NEVER && now > hash.expireAt;
        });
    }

    private void step(CommandHarness server, String key) {
        switch (random.nextInt(28)) {
            case 0, 1, 2, 3 -> set(server, key, some(random.nextInt(3) == 0 ? 8 : 1));
            case 4 -> delete(server, key, some(random.nextInt(2) == 0 ? 8 : 1));
            case 5 -> setIfMissing(server, key, name());
            case 6 -> increment(server, key, name());
            case 7, 8, 9, 10, 11, 12, 13 -> expireFields(server, key, some(random.nextInt(2) == 0 ? 8 : 1));
            case 14 -> persistFields(server, key, some(8));
            case 15, 16 -> askTimes(server, key, some(8));
            case 17 -> {
                Field field = field(key, name());
                String asked = nameOf(key, field);
                assertThat(server.run("HGET", key, asked)).as(how).isEqualTo(bulk(field));
            }
            case 18 -> assertThat(server.run("HLEN", key)).as(how).isEqualTo(":" + size(key) + "\r\n");
            case 19 -> assertThat(server.run("EXISTS", key)).as(how).isEqualTo(model.containsKey(key)
                    ? ":1\r\n"
                    : ":0\r\n");
            case 20 -> expire(server, key);
            case 21 -> {
                Hash hash = model.get(key);
                boolean had = hash != null && hash.expireAt != NEVER;
                assertThat(server.run("PERSIST", key)).as(how).isEqualTo(had ? ":1\r\n" : ":0\r\n");
                if (hash != null) {
                    hash.expireAt = NEVER;
                }
            }
            case 22 -> rename(server, key, KEYS.get(random.nextInt(KEYS.size())));
            case 23 -> copy(server, key, KEYS.get(random.nextInt(KEYS.size())));
            case 24 -> dumpAndRestore(server, key, KEYS.get(random.nextInt(KEYS.size())));
            case 25 -> pick(server, key);
            case 26 -> {
                if (random.nextInt(20) == 0) {
                    assertThat(server.run("DEL", key)).as(how)
                            .isEqualTo(model.remove(key) == null ? ":0\r\n" : ":1\r\n");
                } else {
                    compare(server, key);
                }
            }
            default -> scan(server, key);
        }
    }

    // --- names

    private String name() {
        int number = random.nextInt(fields);
        return number == 0 ? "" : number % 17 == 0 ? "long".repeat(50) + number : "f" + number;
    }

    private List<String> some(int most) {
        List<String> some = new ArrayList<>();
        for (int i = random.nextInt(1, most + 1); i > 0; i--) {
            some.add(name());
        }
        return some;
    }

    private @Nullable Field field(String key, String name) {
        Hash hash = model.get(key);
        return hash == null ? null : hash.fields.get(name);
    }

    private String nameOf(String key, @Nullable Field field) {
        Hash hash = model.get(key);
        if (hash != null && field != null) {
            for (Map.Entry<String, Field> each : hash.fields.entrySet()) {
                if (each.getValue().equals(field)) {
                    return each.getKey();
                }
            }
        }
        return "never there";
    }

    private int size(String key) {
        Hash hash = model.get(key);
        return hash == null ? 0 : hash.fields.size();
    }

    private static String bulk(@Nullable Field field) {
        return field == null ? "$-1\r\n" : "$" + field.value.length() + "\r\n" + field.value + "\r\n";
    }

    private static String[] words(List<String> some, String... before) {
        List<String> words = new ArrayList<>(List.of(before));
        words.addAll(some);
        return words.toArray(String[]::new);
    }

    private static String integers(List<Long> numbers) {
        StringBuilder text = new StringBuilder("*" + numbers.size() + "\r\n");
        numbers.forEach(number -> text.append(':').append(number).append("\r\n"));
        return text.toString();
    }

    // --- writes

    private void set(CommandHarness server, String key, List<String> names) {
        List<String> words = new ArrayList<>(List.of("HSET", key));
        Hash hash = model.computeIfAbsent(key, _ -> new Hash());
        int before = hash.fields.size();
        for (String name : names) {
            String value = random.nextInt(3) == 0
                    ? Integer.toString(random.nextInt(1000))
                    : "v".repeat(random.nextInt(20) == 0 ? random.nextInt(2000) : random.nextInt(9));
            words.add(name);
            words.add(value);
            hash.fields.put(name, new Field(value));
        }
        assertThat(server.run(words.toArray(String[]::new))).as(how)
                .isEqualTo(":" + (hash.fields.size() - before) + "\r\n");
    }

    private void delete(CommandHarness server, String key, List<String> names) {
        int gone = 0;
        Hash hash = model.get(key);
        for (String name : names) {
            gone += hash != null && hash.fields.remove(name) != null ? 1 : 0;
        }
        forgetIfEmpty(key);
        assertThat(server.run(words(names, "HDEL", key))).as(how).isEqualTo(":" + gone + "\r\n");
    }

    private void forgetIfEmpty(String key) {
        if (size(key) == 0) {
            model.remove(key);
        }
    }

    private void setIfMissing(CommandHarness server, String key, String name) {
        boolean there = field(key, name) != null;
        model.computeIfAbsent(key, _ -> new Hash()).fields.computeIfAbsent(name, _ -> new Field("nx"));
        assertThat(server.run("HSETNX", key, name, "nx")).as(how).isEqualTo(there ? ":0\r\n" : ":1\r\n");
    }

    private void increment(CommandHarness server, String key, String name) {
        Field field = field(key, name);
        boolean floats = random.nextBoolean();
        String reply = floats ? server.run("HINCRBYFLOAT", key, name, "1") : server.run("HINCRBY", key, name, "1");
        if (field != null && (field.value.isEmpty() || field.value.matches(".*[a-z].*"))) {
            assertThat(reply).as(how).startsWith("-ERR hash value is not");
            return;
        }
        String sum = Integer.toString((field == null ? 0 : Integer.parseInt(field.value)) + 1);
        assertThat(reply).as(how).isEqualTo(floats ? bulk(new Field(sum)) : ":" + sum + "\r\n");
        if (field == null) {
            model.computeIfAbsent(key, _ -> new Hash()).fields.put(name, new Field(sum));
        } else {
            field.value = sum;
        }
    }

    private void expireFields(CommandHarness server, String key, List<String> names) {
        long now = server.now();
        long in = random.nextInt(8) == 0 ? 0 : random.nextInt(10) == 0 ? 1_000_000 : random.nextInt(400);
        boolean absolute = random.nextBoolean();
        long at = now + in;
        String condition = List.of("", "", "NX", "XX", "GT", "LT").get(random.nextInt(6));
        List<String> before = new ArrayList<>(List.of(absolute ? "HPEXPIREAT" : "HPEXPIRE", key,
                Long.toString(absolute ? at : in)));
        if (!condition.isEmpty()) {
            before.add(condition);
        }
        before.addAll(List.of("FIELDS", Integer.toString(names.size())));
        List<Long> expected = new ArrayList<>();
        for (String name : names) {
            Hash hash = model.get(key);
            Field field = hash == null ? null : hash.fields.get(name);
            boolean allowed = field != null && switch (condition) {
                case "NX" -> field.time == NEVER;
                case "XX" -> field.time != NEVER;
                case "GT" -> field.time != NEVER && at > field.time;
                case "LT" -> field.time == NEVER || at < field.time;
                default -> true;
            };
            if (hash == null || field == null || !allowed) {
                expected.add(field == null ? -2L : 0L);
            } else if (at <= now) {
                hash.fields.remove(name);
                expected.add(2L);
            } else {
                field.time = at;
                expected.add(1L);
            }
        }
        forgetIfEmpty(key);
        assertThat(server.run(words(names, before.toArray(String[]::new)))).as(how).isEqualTo(integers(expected));
    }

    private void persistFields(CommandHarness server, String key, List<String> names) {
        List<Long> expected = new ArrayList<>();
        for (String name : names) {
            Field field = field(key, name);
            expected.add(field == null ? -2L : field.time == NEVER ? -1L : 1L);
            if (field != null) {
                field.time = NEVER;
            }
        }
        assertThat(server.run(words(names, "HPERSIST", key, "FIELDS", Integer.toString(names.size())))).as(how)
                .isEqualTo(integers(expected));
    }

    private void expire(CommandHarness server, String key) {
        long in = random.nextInt(1, 500);
        Hash hash = model.get(key);
        assertThat(server.run("PEXPIRE", key, Long.toString(in))).as(how).isEqualTo(hash == null
                ? ":0\r\n"
                : ":1\r\n");
        if (hash != null) {
            hash.expireAt = server.now() + in;
        }
        assertThat(server.run("PTTL", key)).as(how).isEqualTo(":" + (hash == null ? -2 : in) + "\r\n");
    }

    // --- from one key to another

    private void rename(CommandHarness server, String from, String to) {
        Hash hash = model.get(from);
        assertThat(server.run("RENAME", from, to)).as(how).isEqualTo(hash == null
                ? "-ERR no such key\r\n"
                : "+OK\r\n");
        if (hash != null) {
            model.remove(from);
            model.put(to, hash);
        }
    }

    private void copy(CommandHarness server, String from, String to) {
        if (from.equals(to)) {
            return;
        }
        Hash hash = model.get(from);
        assertThat(server.run("COPY", from, to, "REPLACE")).as(how).isEqualTo(hash == null ? ":0\r\n" : ":1\r\n");
        if (hash != null) {
            model.put(to, hash.copy());
        }
    }

    private void dumpAndRestore(CommandHarness server, String from, String to) {
        Hash hash = model.get(from);
        String reply = server.run("DUMP", from);
        if (hash == null) {
            assertThat(reply).as(how).isEqualTo("$-1\r\n");
            return;
        }
        String payload = reply.substring(reply.indexOf('\n') + 1, reply.length() - 2);
        boolean timed = hash.fields.values().stream().anyMatch(field -> field.time != NEVER);
        assertThat(payload.charAt(payload.length() - 10)).as(how).isEqualTo(timed ? (char) 12 : (char) 10);
        long ttl = hash.expireAt == NEVER ? 0 : Math.max(1, hash.expireAt - server.now());
        assertThat(server.run("RESTORE", to, Long.toString(ttl), payload, "REPLACE")).as(how).isEqualTo("+OK\r\n");
        Hash copy = hash.copy();
        copy.expireAt = ttl == 0 ? NEVER : server.now() + ttl;
        model.put(to, copy);
    }

    // --- reads

    private void askTimes(CommandHarness server, String key, List<String> names) {
        boolean absolute = random.nextBoolean();
        List<Long> expected = new ArrayList<>();
        for (String name : names) {
            Field field = field(key, name);
            expected.add(field == null
                    ? -2
                    : field.time == NEVER ? -1 : absolute ? field.time : field.time - server.now());
        }
        assertThat(server.run(words(names, absolute ? "HPEXPIRETIME" : "HPTTL", key, "FIELDS",
                Integer.toString(names.size())))).as(how).isEqualTo(integers(expected));
    }

    private static List<String> bulks(String reply) {
        List<String> bulks = new ArrayList<>();
        String[] lines = reply.split("\r\n", -1);
        for (int i = 0; i < lines.length - 1; i++) {
            if (lines[i].startsWith("$")) {
                bulks.add(lines[++i]);
            }
        }
        return bulks;
    }

    private void pick(CommandHarness server, String key) {
        int count = random.nextInt(-12, 12);
        List<String> picked = bulks(server.run("HRANDFIELD", key, Integer.toString(count)));
        int there = size(key);
        assertThat(picked).as(how).hasSize(there == 0 ? 0 : count < 0 ? -count : Math.min(count, there));
        for (String name : picked) {
            assertThat(field(key, name)).as(how).isNotNull();
        }
        if (count > 0) {
            assertThat(new TreeSet<>(picked)).as(how).hasSameSizeAs(picked);
        }
    }

    private void scan(CommandHarness server, String key) {
        Map<String, String> all = new TreeMap<>();
        String cursor = "0";
        do {
            List<String> part = bulks(server.run("HSCAN", key, cursor, "COUNT", "20"));
            cursor = part.getFirst();
            for (int i = 1; i < part.size(); i += 2) {
                assertThat(all.put(part.get(i), part.get(i + 1))).as(how).isNull();
            }
        } while (!cursor.equals("0"));
        assertThat(all).as(how).isEqualTo(values(key));
    }

    private Map<String, String> values(String key) {
        Map<String, String> values = new TreeMap<>();
        Hash hash = model.get(key);
        if (hash != null) {
            hash.fields.forEach((name, field) -> values.put(name, field.value));
        }
        return values;
    }

    private void compare(CommandHarness server, String key) {
        List<String> words = bulks(server.run("HGETALL", key));
        Map<String, String> all = new TreeMap<>();
        for (int i = 0; i < words.size(); i += 2) {
            assertThat(all.put(words.get(i), words.get(i + 1))).as(how).isNull();
        }
        assertThat(all).as(how).isEqualTo(values(key));
        List<String> names = bulks(server.run("HKEYS", key));
        assertThat(new TreeSet<>(names)).as(how).hasSameSizeAs(names).isEqualTo(values(key).keySet());
        assertThat(server.run("TYPE", key)).as(how).isEqualTo(model.containsKey(key) ? "+hash\r\n" : "+none\r\n");
    }
}
