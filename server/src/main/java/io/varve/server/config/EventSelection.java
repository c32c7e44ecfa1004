package io.varve.server.config;

import java.util.EnumSet;
import java.util.Set;

/**
 * The key events that are published, and the channels that they go to: {@code notify-keyspace-events}. Immutable.
 *
 * @param classes the classes that are published
 * @param toKeyspace whether the key's channel receives the event ({@code K})
 * @param toKeyevent whether the event's channel receives the key ({@code E})
 */
public record EventSelection(Set<EventClass> classes, boolean toKeyspace, boolean toKeyevent) {
    /** The meaning of {@code A}: all classes except the most frequent ones. */
    private static final Set<EventClass> ALL = EnumSet.complementOf(EnumSet.of(EventClass.NEW, EventClass.MISS));
    private static final String INVALID = "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";

    public EventSelection {
        classes = Set.copyOf(classes);
    }

    /** @throws ConfigException if a letter is invalid */
    public static EventSelection parse(String letters) {
        EnumSet<EventClass> classes = EnumSet.noneOf(EventClass.class);
        boolean keyspace = false;
        boolean keyevent = false;
        for (int i = 0; i < letters.length(); i++) {
            char letter = letters.charAt(i);
            switch (letter) {
                case 'A' -> classes.addAll(ALL);
                case 'K' -> keyspace = true;
                case 'E' -> keyevent = true;
                default -> classes.add(classOf(letter));
            }
        }
        return new EventSelection(classes, keyspace, keyevent);
    }

    private static EventClass classOf(char letter) {
        for (EventClass each : EventClass.values()) {
            if (each.letter() == letter) {
                return each;
            }
        }
        throw new ConfigException(INVALID);
    }

    /** Whether any event is published. */
    public boolean isAny() {
        return !classes.isEmpty() && (toKeyspace || toKeyevent);
    }

    /** The letters as CONFIG GET shows them. */
    @Override
    public String toString() {
        StringBuilder letters = new StringBuilder();
        boolean all = classes.containsAll(ALL);
        if (all) {
            letters.append('A');
        }
        for (EventClass each : EventClass.values()) {
            if (each != EventClass.MISS && classes.contains(each) && !(all && ALL.contains(each))) {
                letters.append(each.letter());
            }
        }
        if (toKeyspace) {
            letters.append('K');
        }
        if (toKeyevent) {
            letters.append('E');
        }
        if (classes.contains(EventClass.MISS)) {
            letters.append(EventClass.MISS.letter());
        }
        return letters.toString();
    }
}
