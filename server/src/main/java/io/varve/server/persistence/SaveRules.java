package io.varve.server.persistence;

import java.util.ArrayList;
import java.util.List;

/**
 * The {@code save} setting: a snapshot is due if, for one of the rules, at least so many seconds have passed since the
 * last one and at least so many changes were made. Immutable.
 */
public final class SaveRules {
    private record Rule(long seconds, long changes) {}

    private final List<Rule> rules;

    private SaveRules(List<Rule> rules) {
        this.rules = rules;
    }

    /** @param setting pairs of seconds and changes, already checked */
    public static SaveRules of(String setting) {
        List<Rule> rules = new ArrayList<>();
        String[] words = setting.isBlank() ? new String[0] : setting.trim().split("\\s+", -1);
        for (int i = 0; i + 1 < words.length; i += 2) {
            rules.add(new Rule(Long.parseLong(words[i]), Long.parseLong(words[i + 1])));
        }
        return new SaveRules(List.copyOf(rules));
    }

    /** Whether any rule exists, so that a shutdown saves. */
    public boolean any() {
        return !rules.isEmpty();
    }

    public boolean isDue(long seconds, long changes) {
        for (Rule rule : rules) {
            if (seconds > rule.seconds && changes >= rule.changes) {
                return true;
            }
        }
        return false;
    }
}
