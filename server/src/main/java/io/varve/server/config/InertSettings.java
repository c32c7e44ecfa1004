package io.varve.server.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells in the log which settings were taken and change nothing, so that nobody relies on one. Many threads: a concurrent set.
 */
public final class InertSettings {
    private static final Logger LOG = LoggerFactory.getLogger(InertSettings.class);
    /** What is shown of a value. */
    private static final int SHOWN_CHARACTERS = 100;

    /** Names, of which there are no more than settings: whoever repeats CONFIG SET does not fill the log. */
    private final Set<String> told = ConcurrentHashMap.newKeySet();
    /** The last maxmemory that was warned of. */
    private final AtomicLong lastTooMuch = new AtomicLong();

    /** Warns, in one line, of those of these settings that have no effect and not their default; of each once. */
    public void warn(ServerConfig config, Set<String> names) {
        List<String> fresh = new ArrayList<>();
        for (String name : names) {
            Setting setting = Settings.find(name);
            if (setting != null && setting.inert() && !config.asSet(setting.name()).equals(setting.defaultValue())
                    && told.add(setting.name())) {
                fresh.add(setting.name() + " " + shown(setting, config));
            }
        }
        if (!fresh.isEmpty()) {
            LOG.warn("Settings without effect in Varve: {}", String.join(", ", fresh));
        }
    }

    /** Warns, once, where the demand for classes is to be watched and cannot be. */
    public void warnOfDemand(ServerConfig config) {
        if (config.demandLacksGround() && told.add("demand-cycles")) {
            LOG.warn(
                    "demand-cycles yes has no effect without flash-dir, and penalty-tracking yes or a maxmemory-policy that "
                            + "weighs penalties, such as allkeys-penalty");
        }
    }

    /** Warns, once, where the directory is missing in which nothing is kept. */
    public void warnOfDirectory(ServerConfig config) {
        if (!config.hasDirectory() && told.add("dir")) {
            LOG.warn("dir {} is not there: the server goes on, as it keeps nothing in it", config.text("dir"));
        }
    }

    /** Warns where maxmemory and what the JVM takes are more than there is: when the value changes. */
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
        // It is a client's text, which makes no lines of its own in the log.
        String line = value.replaceAll("\\p{Cntrl}", "?");
        return line.length() <= SHOWN_CHARACTERS ? line : line.substring(0, SHOWN_CHARACTERS) + "...";
    }
}
