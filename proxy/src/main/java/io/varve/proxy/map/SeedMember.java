package io.varve.proxy.map;

import java.util.ArrayList;
import java.util.List;

import io.varve.server.config.ConfigException;

/**
 * A member of the setting {@code members}. Immutable.
 *
 * @param weight its share of the slots in relation to the other members
 * @param isWeighted whether the setting names the weight
 */
public record SeedMember(Endpoint endpoint, double weight, boolean isWeighted) {
    /**
     * Reads {@code HOST:PORT[*WEIGHT],…}.
     *
     * @throws ConfigException without the setting's name
     */
    public static List<SeedMember> parse(String list) {
        List<SeedMember> members = new ArrayList<>();
        for (String word : list.split("[,\\s]+")) {
            if (!word.isEmpty()) {
                SeedMember member = one(word);
                if (members.stream().anyMatch(other -> other.endpoint().equals(member.endpoint()))) {
                    throw new ConfigException(word + " is named twice");
                }
                members.add(member);
            }
        }
        return List.copyOf(members);
    }

    private static SeedMember one(String word) {
        int star = word.lastIndexOf('*');
        Endpoint endpoint = Endpoint.parse(star < 0 ? word : word.substring(0, star));
        double weight = 1;
        if (star >= 0 && word.substring(star + 1).matches("\\d{1,6}(\\.\\d{1,6})?")) {
            weight = Double.parseDouble(word.substring(star + 1));
        } else if (star >= 0) {
            weight = 0;
        }
        if (endpoint == null || weight <= 0) {
            throw new ConfigException(word + ": expected HOST:PORT or HOST:PORT*WEIGHT");
        }
        return new SeedMember(endpoint, weight, star >= 0);
    }
}
