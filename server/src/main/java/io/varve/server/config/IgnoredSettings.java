package io.varve.server.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs settings that are accepted but have no effect. Many threads: a concurrent set.
 */
public final class IgnoredSettings {
    private static final Logger LOG = LoggerFactory.getLogger(IgnoredSettings.class);
    /** Maximum length of a value in the log. */
    private static final int SHOWN_CHARACTERS = 100;

    /**
     * Names of logged settings, at most as many as there are settings: repeated CONFIG SET calls do not fill the log.
     */
    private final Set<String> logged = ConcurrentHashMap.newKeySet();
    /** The last maxmemory that caused a warning. */
    private final AtomicLong lastTooMuch = new AtomicLong();

    /** Warns once, in one line, about those of these settings that have no effect and are not at their default. */
    public void warn(ServerConfig config, Set<String> names) {
        List<String> fresh = new ArrayList<>();
        for (String name : names) {
            Setting setting = Settings.find(name);
            if (setting != null && setting.inert() && !config.asSet(setting.name()).equals(setting.defaultValue())
                    && logged.add(setting.name())) {
                fresh.add(setting.name() + " " + shown(setting, config));
            }
        }
        if (!fresh.isEmpty()) {
            LOG.warn("Settings without effect in Varve: {}", String.join(", ", fresh));
        }
    }

    /** Warns once if {@code demand-cycles} is on but cannot work. */
    public void warnOfDemand(ServerConfig config) {
        if (config.demandLacksGround() && logged.add("demand-cycles")) {
            LOG.warn(
                    "demand-cycles yes has no effect: it needs flash-dir, and penalty-tracking yes or a"
                            + " maxmemory-policy that "
                            + "weighs penalties, such as allkeys-penalty");
        }
    }

    /** Warns once if the directory {@code dir} does not exist. */
    public void warnOfDirectory(ServerConfig config) {
        if (!config.hasDirectory() && logged.add("dir")) {
            LOG.warn("dir {} does not exist: the server continues, but cannot save snapshots there",
                    config.text("dir"));
        }
    }

    /** Warns if maxmemory and the JVM together need more memory than exists, once for each value. */
    public void warnOfMemory(ServerConfig config) {
        MemoryPlan plan = MemoryPlan.ofThisProcess();
        long maxMemory = config.maxMemoryBytes();
        if (!plan.fits(maxMemory) && lastTooMuch.getAndSet(maxMemory) != maxMemory) {
            LOG.warn(plan.warning(maxMemory));
        }
    }

    private static String shown(Setting setting, ServerConfig config) {
        String value = config.asSet(setting.name());
        if (setting.isSecret()) {
            return "(hidden)";
        }
        if (value.isEmpty()) {
            return "\"\"";
        }
        // A client's text must not create lines in the log.
        String line = value.replaceAll("\\p{Cntrl}", "?");
        return line.length() <= SHOWN_CHARACTERS ? line : line.substring(0, SHOWN_CHARACTERS) + "...";
    }
}
