package io.varve.proxy;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.varve.cluster.protocol.ControllerAddress;
import io.varve.proxy.client.ClientSettings;
import io.varve.proxy.map.MemberCredentials;
import io.varve.proxy.map.SeedMember;
import io.varve.proxy.member.MemberSettings;
import io.varve.server.config.ByteOrderMark;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ConfigReader;
import io.varve.server.config.MemoryUnits;
import io.varve.server.config.ServerConfig;
import io.varve.server.tls.TlsContext;
import org.jspecify.annotations.Nullable;

/** The values of all settings of a proxy. Immutable. */
public final class ProxySettings {
    private static final String HIDDEN = "(hidden)";

    private final Map<ProxySetting, String> values;

    private ProxySettings(Map<ProxySetting, String> values) {
        this.values = new EnumMap<>(values);
    }

    /**
     * Reads {@code [FILE] [--NAME VALUE]…}; FILE has the syntax of redis.conf.
     *
     * @throws ConfigException with a line for each line and option that is wrong
     */
    public static ProxySettings read(List<String> arguments) {
        Map<ProxySetting, String> values = new EnumMap<>(ProxySetting.class);
        for (ProxySetting setting : ProxySetting.values()) {
            values.put(setting, setting.initial());
        }
        List<String> problems = new ArrayList<>();
        int next = 0;
        if (!arguments.isEmpty() && !arguments.getFirst().startsWith("-")) {
            readFile(Path.of(arguments.getFirst()), values, problems);
            next = 1;
        }
        while (next < arguments.size()) {
            next = readOption(arguments, next, values, problems);
        }
        ProxySettings settings = new ProxySettings(values);
        if (problems.isEmpty()) {
            settings.check(problems);
        }
        if (!problems.isEmpty()) {
            throw new ConfigException(String.join("\n", problems));
        }
        return settings;
    }

    private static void readFile(Path file, Map<ProxySetting, String> values, List<String> problems) {
        List<String> lines;
        try {
            lines = ByteOrderMark.linesWithout(file, StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            problems.add("configuration file " + file + " cannot be read: "
                    + (Files.exists(file) ? unreadable.getMessage() : "there is no such file"));
            return;
        }
        for (int number = 1; number <= lines.size(); number++) {
            String line = ConfigReader.stripped(lines.get(number - 1));
            if (!line.isEmpty() && !line.startsWith("#")) {
                String where = file + ":" + number + ": ";
                List<String> words = ConfigReader.split(line);
                if (words == null) {
                    problems.add(where + "unbalanced quotes");
                } else {
                    set(where, words.getFirst(), words.subList(1, words.size()), values, problems);
                }
            }
        }
    }

    private static int readOption(List<String> arguments, int at, Map<ProxySetting, String> values,
            List<String> problems) {
        int next = at + 1;
        String option = arguments.get(at);
        List<String> words = new ArrayList<>();
        while (next < arguments.size() && !arguments.get(next).startsWith("--")) {
            words.add(arguments.get(next++));
        }
        int equals = option.indexOf('=');
        if (equals > 0) {
            words.addFirst(option.substring(equals + 1));
            option = option.substring(0, equals);
        }
        if (option.startsWith("--")) {
            set("--", option.substring(2), words, values, problems);
        } else {
            problems.add(option + ": an option begins with --");
        }
        return next;
    }

    private static void set(String where, String name, List<String> words, Map<ProxySetting, String> values,
            List<String> problems) {
        ProxySetting setting = ProxySetting.find(name);
        String value = String.join(" ", words);
        if (setting == null) {
            problems.add(where + name + ": there is no such setting; proxy --help lists them");
        } else if (words.isEmpty() || !setting.accepts(value)) {
            String shown = words.isEmpty() ? "" : " " + (setting.isSecret() ? HIDDEN : value);
            problems.add(where + setting.settingName() + shown + ": expected " + setting.allowed());
        } else {
            values.put(setting, value);
        }
    }

    private void check(List<String> problems) {
        if (number(ProxySetting.TLS_PORT) > 0) {
            try {
                tls();
            } catch (ConfigException bad) {
                problems.add(String.valueOf(bad.getMessage()));
            }
        }
        try {
            memberTls();
        } catch (ConfigException bad) {
            problems.add("member-" + bad.getMessage());
        }
        boolean hasControllers = !controllers().isEmpty();
        if (hasControllers && !members().isEmpty()) {
            problems.add("members " + text(ProxySetting.MEMBERS) + ": the controllers name the members; leave out"
                    + " members or controllers");
        } else if (!hasControllers && members().isEmpty()) {
            problems.add("members: needs a value, " + ProxySetting.MEMBERS.allowed() + "; or name controllers");
        } else if (text(ProxySetting.MEMBER_KIND).equals("cluster")
                && members().stream().anyMatch(SeedMember::isWeighted)) {
            problems.add("members " + text(ProxySetting.MEMBERS)
                    + ": weights need member-kind plain, because a cluster distributes its slots itself");
        }
    }

    public String text(ProxySetting setting) {
        return java.util.Objects.requireNonNull(values.get(setting));
    }

    public int number(ProxySetting setting) {
        return Integer.parseInt(text(setting));
    }

    private long bytes(ProxySetting setting) {
        return MemoryUnits.parse(text(setting));
    }

    /** A file; null if none is set. */
    public @Nullable Path file(ProxySetting setting) {
        return text(setting).isEmpty() ? null : Path.of(text(setting));
    }

    public List<SeedMember> members() {
        return SeedMember.parse(text(ProxySetting.MEMBERS));
    }

    /** Empty: the proxy follows no controllers. */
    public List<ControllerAddress> controllers() {
        String list = text(ProxySetting.CONTROLLERS);
        return list.isEmpty() ? List.of() : ControllerAddress.parseList(list);
    }

    /**
     * Reads the certificate and the key; clients need none.
     *
     * @throws ConfigException in one line: setting, file and problem
     */
    TlsContext tls() {
        return TlsContext.of(ServerConfig.defaults().with("tls-auth-clients", "no")
                .with("tls-cert-file", text(ProxySetting.TLS_CERT_FILE))
                .with("tls-key-file", text(ProxySetting.TLS_KEY_FILE)));
    }

    /**
     * Reads the files for connections to members; null: these have no TLS.
     *
     * @throws ConfigException in one line: setting without {@code member-}, file and problem
     */
    private @Nullable TlsContext memberTls() {
        return text(ProxySetting.MEMBER_TLS).equals("no")
                ? null
                : TlsContext.ofClient(ServerConfig.defaults()
                        .with("tls-ca-cert-file", text(ProxySetting.MEMBER_TLS_CA_CERT_FILE))
                        .with("tls-cert-file", text(ProxySetting.MEMBER_TLS_CERT_FILE))
                        .with("tls-key-file", text(ProxySetting.MEMBER_TLS_KEY_FILE)));
    }

    MemberCredentials credentials() {
        return new MemberCredentials(text(ProxySetting.MEMBER_USER), text(ProxySetting.MEMBER_PASSWORD), memberTls());
    }

    ClientSettings clients() {
        return new ClientSettings(text(ProxySetting.REQUIREPASS), number(ProxySetting.MAXCLIENTS),
                number(ProxySetting.MAX_PIPELINE), bytes(ProxySetting.PROTO_MAX_BULK_LEN),
                (int) bytes(ProxySetting.CLIENT_QUERY_BUFFER_LIMIT), bytes(ProxySetting.CLIENT_OUTPUT_BUFFER_LIMIT));
    }

    MemberSettings memberSettings() {
        return new MemberSettings(credentials(), number(ProxySetting.MEMBER_CONNECT_TIMEOUT_MS),
                number(ProxySetting.MEMBER_REPLY_TIMEOUT_MS), number(ProxySetting.MEMBER_CONNECTIONS),
                number(ProxySetting.MERGE_WINDOW_MS), bytes(ProxySetting.PROTO_MAX_BULK_LEN) * 2,
                number(ProxySetting.MAX_DEDICATED_CONNECTIONS));
    }

    /** Prints {@code proxy --help}. */
    static void help(PrintStream out) {
        out.println("Usage: ./varve proxy [FILE] [--NAME VALUE]...");
        out.println();
        out.println("FILE is in redis.conf syntax. Each setting with its default and what is allowed:");
        out.println();
        for (ProxySetting setting : ProxySetting.values()) {
            String initial = setting.initial().isEmpty() ? "\"\"" : setting.initial();
            out.println(String.format(Locale.ROOT, "  %-28s %-12s %s", setting.settingName(), initial,
                    setting.allowed()));
        }
    }
}
