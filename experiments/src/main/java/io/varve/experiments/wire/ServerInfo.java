package io.varve.experiments.wire;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * A reply to INFO, field by field. Immutable.
 *
 * <p>Fields keep Redis's names; only values such as {@code db0:keys=1,expires=1,avg_ttl=0} have parts.
 */
public final class ServerInfo {
    private static final String DATABASE = "db\\d+";

    private final Map<String, String> fields;

    private ServerInfo(Map<String, String> fields) {
        this.fields = fields;
    }

    public static ServerInfo parse(String text) {
        Map<String, String> fields = new HashMap<>();
        text.lines().forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0 && line.charAt(0) != '#') {
                fields.put(line.substring(0, colon), line.substring(colon + 1).strip());
            }
        });
        return new ServerInfo(Map.copyOf(fields));
    }

    /** The sums of some fields, and of the keys, over several servers; of other fields those of the first server. */
    public static ServerInfo total(List<ServerInfo> servers, List<String> summed) {
        Map<String, String> fields = new HashMap<>(servers.getFirst().fields);
        for (String field : summed) {
            if (servers.stream().allMatch(each -> each.number(field).isPresent())) {
                fields.put(field,
                        String.valueOf(servers.stream().mapToLong(each -> each.number(field).orElseThrow()).sum()));
            }
        }
        fields.keySet().removeIf(field -> field.matches(DATABASE));
        fields.put("db0", "keys=" + servers.stream().mapToLong(ServerInfo::keys).sum());
        return new ServerInfo(Map.copyOf(fields));
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
        long keys = 0;
        for (Map.Entry<String, String> field : fields.entrySet()) {
            if (field.getKey().matches(DATABASE)) {
                for (String part : field.getValue().split(",", -1)) {
                    if (part.startsWith("keys=")) {
                        keys += Long.parseLong(part.substring("keys=".length()));
                    }
                }
            }
        }
        return keys;
    }

    /** Name and version of the server, as it reports them. */
    public String serverVersion() {
        if (!text("varve_version").isEmpty()) {
            return "Varve " + text("varve_version");
        }
        return "Redis " + text("redis_version");
    }
}
