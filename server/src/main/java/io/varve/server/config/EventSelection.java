package io.varve.server.config;

import java.util.EnumSet;
import java.util.Set;

/**
 * Which of the things that happen to keys are told as messages, and to which channels: {@code notify-keyspace-events}. Immutable.
 *
 * @param classes    those that are told
 * @param toKeyspace whether the key's channel is told what has happened ({@code K})
 * @param toKeyevent whether what has happened has a channel, which is told the key ({@code E})
 */
public record EventSelection(Set<EventClass> classes, boolean toKeyspace, boolean toKeyevent) {
    /** What {@code A} stands for: all but those that are told too often. */
    private static final Set<EventClass> ALL = EnumSet.complementOf(EnumSet.of(EventClass.NEW, EventClass.MISS));
    private static final String INVALID = "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";

    public EventSelection {
        classes = Set.copyOf(classes);
    }

    /** @throws ConfigException if a letter stands for nothing */
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

    /** Whether anything is told. */
    public boolean isAny() {
        return !classes.isEmpty() && (toKeyspace || toKeyevent);
    }

    /** As CONFIG GET shows it. */
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
