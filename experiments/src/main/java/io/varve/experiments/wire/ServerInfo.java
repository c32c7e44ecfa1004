package io.varve.experiments.wire;

import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;

/**
 * A reply to INFO, field by field. Immutable.
 *
 * <p>Fields keep Redis's names; only values such as {@code db0:keys=1,expires=1,avg_ttl=0} have parts.
 */
public final class ServerInfo {
    private static final String DATABASE = "db\\d+";

    private static final String KEYS = "keys";
    private static final String EXPIRES = "expires";
    /** Sections whose numbers identify a process or a peer, or are lists. */
    private static final Set<String> NOT_MEASURED = Set.of("server", "replication", "modules", "commandstats",
            "errorstats", "latencystats", "cluster", "keyspace");

    private final Map<String, String> fields;
    /** The section of each field, in lower case. */
    private final Map<String, String> sections;

    private ServerInfo(Map<String, String> fields, Map<String, String> sections) {
        this.fields = Collections.unmodifiableMap(fields);
        this.sections = Map.copyOf(sections);
    }

    public static ServerInfo parse(String text) {
        Map<String, String> fields = new LinkedHashMap<>();
        Map<String, String> sections = new HashMap<>();
        String section = "";
        for (String line : text.lines().toList()) {
            int colon = line.indexOf(':');
            if (line.startsWith("#")) {
                section = line.substring(1).strip().toLowerCase(Locale.ROOT);
            } else if (colon > 0) {
                String name = line.substring(0, colon);
                fields.put(name, line.substring(colon + 1).strip());
                sections.put(name, section);
            }
        }
        return new ServerInfo(fields, sections);
    }

    /** The sums of some fields, and of the keys, over several servers; of other fields those of the first server. */
    public static ServerInfo total(List<ServerInfo> servers, List<String> summed) {
        Map<String, String> fields = new LinkedHashMap<>(servers.getFirst().fields);
        for (String field : summed) {
            if (servers.stream().allMatch(each -> each.number(field).isPresent())) {
                fields.put(field,
                        String.valueOf(servers.stream().mapToLong(each -> each.number(field).orElseThrow()).sum()));
            }
        }
        fields.keySet().removeIf(field -> field.matches(DATABASE));
        fields.put("db0", "keys=" + servers.stream().mapToLong(ServerInfo::keys).sum());
        return new ServerInfo(fields, servers.getFirst().sections);
    }

    public String text(String field) {
        return fields.getOrDefault(field, "");
    }

    public OptionalLong number(String field) {
        String value = text(field);
        return value.matches("-?\\d{1,18}") ? OptionalLong.of(Long.parseLong(value)) : OptionalLong.empty();
    }

    public OptionalDouble decimal(String field) {
        String value = text(field);
        return value.matches("-?\\d+(\\.\\d+)?")
                ? OptionalDouble.of(Double.parseDouble(value))
                : OptionalDouble.empty();
    }

    /** Keys of all databases. */
    public long keys() {
        return total(KEYS);
    }

    /** The sum over all databases of a part of their values, such as {@code keys}. */
    private long total(String part) {
        long total = 0;
        for (Map.Entry<String, String> field : fields.entrySet()) {
            if (field.getKey().matches(DATABASE)) {
                for (String each : field.getValue().split(",", -1)) {
                    if (each.startsWith(part + "=")) {
                        total += Long.parseLong(each.substring(part.length() + 1));
                    }
                }
            }
        }
        return total;
    }

    /**
     * All numbers that may change during a run, by field, in the order of the reply: memory, statistics, clients,
     * persistence, CPU and the server's own sections, then {@code keys} and {@code expires} of all databases. A
     * percentage has no sign.
     */
    public Map<String, String> numbers() {
        Map<String, String> numbers = new LinkedHashMap<>();
        fields.forEach((name, value) -> {
            if (value.matches("-?\\d+(\\.\\d+)?%?") && !NOT_MEASURED.contains(sections.getOrDefault(name, ""))) {
                numbers.put(name, value.replace("%", ""));
            }
        });
        numbers.put(KEYS, String.valueOf(total(KEYS)));
        numbers.put(EXPIRES, String.valueOf(total(EXPIRES)));
        return numbers;
    }

    /** Name and version of the server, as it reports them. */
    public String serverVersion() {
        if (!text("varve_version").isEmpty()) {
            return "Varve " + text("varve_version");
        }
        return "Redis " + text("redis_version");
    }
}
