//! The texts of the data of the demo. All of it is invented; addresses are of example.org.

/// Given names, each with a gender.
pub(super) const GIVEN_NAMES: &[(&str, &str)] = &[
    ("Ada", "Female"),
    ("Amara", "Female"),
    ("Anna", "Female"),
    ("Beatriz", "Female"),
    ("Clara", "Female"),
    ("Dalia", "Female"),
    ("Elena", "Female"),
    ("Fatima", "Female"),
    ("Grace", "Female"),
    ("Hana", "Female"),
    ("Imani", "Female"),
    ("Ines", "Female"),
    ("Jana", "Female"),
    ("Joy", "Female"),
    ("Keiko", "Female"),
    ("Leila", "Female"),
    ("Lucia", "Female"),
    ("Maya", "Female"),
    ("Mei", "Female"),
    ("Nadia", "Female"),
    ("Nora", "Female"),
    ("Olga", "Female"),
    ("Petra", "Female"),
    ("Priya", "Female"),
    ("Rosa", "Female"),
    ("Ruth", "Female"),
    ("Sofia", "Female"),
    ("Tamar", "Female"),
    ("Vera", "Female"),
    ("Yasmin", "Female"),
    ("Abel", "Male"),
    ("Amir", "Male"),
    ("Andre", "Male"),
    ("Anton", "Male"),
    ("Bruno", "Male"),
    ("Carlos", "Male"),
    ("Daniel", "Male"),
    ("David", "Male"),
    ("Emil", "Male"),
    ("Felix", "Male"),
    ("George", "Male"),
    ("Hassan", "Male"),
    ("Ivan", "Male"),
    ("Jamal", "Male"),
    ("Jonas", "Male"),
    ("Kenji", "Male"),
    ("Kofi", "Male"),
    ("Liam", "Male"),
    ("Luis", "Male"),
    ("Marco", "Male"),
    ("Mateo", "Male"),
    ("Noah", "Male"),
    ("Omar", "Male"),
    ("Pavel", "Male"),
    ("Ravi", "Male"),
    ("Samuel", "Male"),
    ("Tariq", "Male"),
    ("Tomas", "Male"),
    ("Viktor", "Male"),
    ("Wei", "Male"),
    ("Alex", "Other"),
    ("Jordan", "Other"),
    ("Robin", "Other"),
    ("Sam", "Other"),
];

/// Family names.
pub(super) const FAMILY_NAMES: &[&str] = &[
    "Abara", "Adeyemi", "Ahmed", "Andersen", "Baker", "Banerjee", "Barros", "Becker", "Bianchi",
    "Brown", "Carter", "Castillo", "Chen", "Cohen", "Costa", "Diaz", "Dubois", "Eriksen",
    "Fischer", "Fontaine", "Garcia", "Gruber", "Haddad", "Hansen", "Hoffmann", "Horvat", "Ibrahim",
    "Ivanova", "Jansen", "Jensen", "Johnson", "Kaya", "Kim", "Kowalski", "Kruger", "Lambert",
    "Larsen", "Lee", "Lopez", "Marino", "Martin", "Mbeki", "Mendes", "Meyer", "Moreau", "Morgan",
    "Murphy", "Nakamura", "Nguyen", "Novak", "Okafor", "Olsen", "Osei", "Patel", "Pereira",
    "Petrov", "Quinn", "Rahman", "Ramos", "Reyes", "Rossi", "Roy", "Ruiz", "Saito", "Santos",
    "Schmidt", "Shah", "Silva", "Singh", "Smith", "Sousa", "Svensson", "Tanaka", "Taylor",
    "Torres", "Tran", "Vargas", "Vasquez", "Vogel", "Wagner", "Walker", "Wang", "Weber",
    "Williams", "Wilson", "Yilmaz", "Young", "Zhang", "Zimmer",
];

/// A place where people live: locality, region, postal code, latitude and longitude in
/// ten-thousandths of a degree.
pub(super) struct Town {
    pub(super) locality: &'static str,
    pub(super) region: &'static str,
    pub(super) postal_code: &'static str,
    pub(super) latitude: i32,
    pub(super) longitude: i32,
}

const fn place(
    locality: &'static str,
    region: &'static str,
    postal_code: &'static str,
    latitude: i32,
    longitude: i32,
) -> Town {
    Town {
        locality,
        region,
        postal_code,
        latitude,
        longitude,
    }
}

/// Places where people live.
pub(super) const PLACES: &[Town] = &[
    place("Albany", "NY", "12207", 426_526, -737_562),
    place("Ann Arbor", "MI", "48104", 422_808, -837_430),
    place("Asheville", "NC", "28801", 355_951, -825_515),
    place("Athens", "GA", "30601", 339_519, -833_576),
    place("Boise", "ID", "83702", 436_150, -1_162_023),
    place("Boulder", "CO", "80302", 400_150, -1_052_705),
    place("Burlington", "VT", "05401", 444_759, -732_121),
    place("Columbia", "MO", "65201", 389_517, -923_341),
    place("Dayton", "OH", "45402", 397_589, -841_916),
    place("Des Moines", "IA", "50309", 415_868, -936_250),
    place("Eugene", "OR", "97401", 440_521, -1_230_868),
    place("Fresno", "CA", "93721", 367_378, -1_197_871),
    place("Gary", "IN", "46402", 416_020, -873_372),
    place("Lansing", "MI", "48933", 427_325, -845_555),
    place("Madison", "WI", "53703", 430_731, -894_012),
    place("Mobile", "AL", "36602", 306_954, -880_399),
    place("Portland", "ME", "04101", 436_591, -702_568),
    place("Reno", "NV", "89501", 395_296, -1_198_138),
    place("Salem", "OR", "97301", 449_429, -1_230_351),
    place("Tucson", "AZ", "85701", 322_226, -1_109_747),
];

/// Streets, without a number.
pub(super) const STREETS: &[&str] = &[
    "Bridge Street",
    "Canal Street",
    "Cedar Avenue",
    "Church Street",
    "Elm Street",
    "Garden Lane",
    "High Street",
    "Hill Road",
    "Lake Drive",
    "Library Square",
    "Maple Avenue",
    "Market Street",
    "Mill Road",
    "Oak Street",
    "Orchard Lane",
    "Park Avenue",
    "River Road",
    "School Street",
    "Station Road",
    "Willow Way",
];

/// Employers.
pub(super) const EMPLOYERS: &[&str] = &[
    "Bluebird Bakery",
    "City Hospital",
    "Cornerstone Books",
    "Elm Street School",
    "Harbor Logistics",
    "Lakeside Clinic",
    "Maple Credit Union",
    "Northside Transit",
    "Oakwood Nursery",
    "Riverbend Farms",
    "Sunrise Solar",
    "Tinker Workshop",
];

/// Sources of records.
pub(super) const SOURCES: &[&str] = &[
    "website",
    "street stall",
    "phone bank",
    "event",
    "import",
    "friend",
];

/// Comments of people who sign.
pub(super) const COMMENTS: &[&str] = &[
    "I walk there with my children every morning.",
    "This should have been done years ago.",
    "Thank you for organizing this.",
    "My neighbors feel the same.",
    "Please listen to the people who live here.",
    "I will be at the council meeting.",
    "It matters to all of us.",
];

/// Parties in the list of the specification.
pub(super) const PARTIES: &[&str] = &["None", "Democratic", "Republican", "Independent"];

/// Causes of petitions, campaigns, pages and events: name, title, and the demand.
pub(super) const CAUSES: &[(&str, &str, &str)] = &[
    (
        "safe-crossings",
        "Safe crossings on Mill Road",
        "two more crossings with lights on Mill Road",
    ),
    (
        "library-sundays",
        "Keep the library open on Sundays",
        "opening hours on Sundays at all four libraries",
    ),
    (
        "night-buses",
        "Night buses for the whole city",
        "a night bus every thirty minutes on the six main lines",
    ),
    (
        "river-clean-up",
        "Clean up the river",
        "a yearly report on the water and two clean-ups a year",
    ),
    (
        "school-meals",
        "A warm meal at every school",
        "a warm meal for every child on every school day",
    ),
    (
        "community-garden",
        "Room for a community garden",
        "the empty lot on Garden Lane for a community garden",
    ),
    (
        "repair-cafe",
        "A repair cafe in every district",
        "rooms and tools for a monthly repair cafe",
    ),
    (
        "street-trees",
        "A thousand street trees",
        "a thousand new street trees within three years",
    ),
];

/// Tags: name and description.
pub(super) const TAGS: &[(&str, &str)] = &[
    ("volunteer", "Has offered to help."),
    ("donor", "Has given money."),
    ("host", "Can host a meeting."),
    ("driver", "Can drive others to an event."),
    ("translator", "Can translate."),
    ("press", "Works for a newspaper, radio or television."),
    ("teacher", "Teaches at a school."),
    ("student", "Studies."),
    ("board", "Sits on the board."),
    ("do-not-mail", "Wants no letters."),
];

/// Lists: name, title.
pub(super) const LISTS: &[(&str, &str)] = &[
    ("newsletter", "Monthly newsletter"),
    ("rapid-response", "Rapid response by text message"),
    ("phone-bankers", "Phone bankers"),
    ("north-district", "North district"),
    ("south-district", "South district"),
    ("new-members", "New members of this year"),
];

/// Public officials that campaigns address: title, organization, given name, family name.
pub(super) const OFFICIALS: &[(&str, &str, &str, &str)] = &[
    ("Mayor", "City Hall", "Miriam", "Castellan"),
    ("Chair of the Council", "City Council", "Oskar", "Lindqvist"),
    (
        "Head of Transit",
        "Department of Transit",
        "Joanna",
        "Merriweather",
    ),
    ("Head of Schools", "Board of Education", "Kwame", "Asante"),
];
