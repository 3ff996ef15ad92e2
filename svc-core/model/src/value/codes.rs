//! Published code lists: currencies of ISO 4217, countries of ISO 3166-1, and calling codes of countries.

/// Currencies in use, and those withdrawn since 1990, which older donations can have (ISO 4217).
const CURRENCIES: &str = "\
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF \
    CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD \
    HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL \
    MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON \
    RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX \
    USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA \
    XXX YER ZAR ZMW ZWG \
    ADP AFA ANG AOK AON AOR ARA ATS AYM AZM BAD BEF BGL BRE BRR BYB BYR CHC CSD CSK CUC CYP DDM DEM ECS ECV EEK ESP FIM FRF GEK GHC GRD \
    GWP HRD HRK IEP ITL LTL LTT LUC LUF LUL LVL LVR MGF MLF MRO MTL MXP MZM NIC NLG PEI PLZ PTE ROL RUR SDD SIT SKK SLL SRG STD SUR \
    TJR TMM TPE TRL UAK USS UYP VEB VEF XEU XFO XFU YDD YUM YUN ZAL ZMK ZRN ZRZ ZWD ZWL ZWN ZWR";

/// Returns the code of the currency in capitals; `code` is case-insensitive.
#[must_use]
pub fn currency(code: &str) -> Option<&'static str> {
    // Each currency is three letters and a space.
    let mut known = CURRENCIES.as_bytes().chunks(4);
    let place = known.position(|known| {
        known
            .get(..3)
            .is_some_and(|known| known.eq_ignore_ascii_case(code.as_bytes()))
    })?;
    let start = place.checked_mul(4)?;
    CURRENCIES.get(start..start.checked_add(3)?)
}

/// The countries of ISO 3166-1, and `XK`, the code that is in use for Kosovo, sorted.
const COUNTRIES: [&str; 250] = [
    "AD", "AE", "AF", "AG", "AI", "AL", "AM", "AO", "AQ", "AR", "AS", "AT", "AU", "AW", "AX", "AZ",
    "BA", "BB", "BD", "BE", "BF", "BG", "BH", "BI", "BJ", "BL", "BM", "BN", "BO", "BQ", "BR", "BS",
    "BT", "BV", "BW", "BY", "BZ", "CA", "CC", "CD", "CF", "CG", "CH", "CI", "CK", "CL", "CM", "CN",
    "CO", "CR", "CU", "CV", "CW", "CX", "CY", "CZ", "DE", "DJ", "DK", "DM", "DO", "DZ", "EC", "EE",
    "EG", "EH", "ER", "ES", "ET", "FI", "FJ", "FK", "FM", "FO", "FR", "GA", "GB", "GD", "GE", "GF",
    "GG", "GH", "GI", "GL", "GM", "GN", "GP", "GQ", "GR", "GS", "GT", "GU", "GW", "GY", "HK", "HM",
    "HN", "HR", "HT", "HU", "ID", "IE", "IL", "IM", "IN", "IO", "IQ", "IR", "IS", "IT", "JE", "JM",
    "JO", "JP", "KE", "KG", "KH", "KI", "KM", "KN", "KP", "KR", "KW", "KY", "KZ", "LA", "LB", "LC",
    "LI", "LK", "LR", "LS", "LT", "LU", "LV", "LY", "MA", "MC", "MD", "ME", "MF", "MG", "MH", "MK",
    "ML", "MM", "MN", "MO", "MP", "MQ", "MR", "MS", "MT", "MU", "MV", "MW", "MX", "MY", "MZ", "NA",
    "NC", "NE", "NF", "NG", "NI", "NL", "NO", "NP", "NR", "NU", "NZ", "OM", "PA", "PE", "PF", "PG",
    "PH", "PK", "PL", "PM", "PN", "PR", "PS", "PT", "PW", "PY", "QA", "RE", "RO", "RS", "RU", "RW",
    "SA", "SB", "SC", "SD", "SE", "SG", "SH", "SI", "SJ", "SK", "SL", "SM", "SN", "SO", "SR", "SS",
    "ST", "SV", "SX", "SY", "SZ", "TC", "TD", "TF", "TG", "TH", "TJ", "TK", "TL", "TM", "TN", "TO",
    "TR", "TT", "TV", "TW", "TZ", "UA", "UG", "UM", "US", "UY", "UZ", "VA", "VC", "VE", "VG", "VI",
    "VN", "VU", "WF", "WS", "XK", "YE", "YT", "ZA", "ZM", "ZW",
];

/// The currencies in use that do not have two digits after the decimal point, by their number of
/// digits (ISO 4217).
const MINOR_DIGITS: [(u32, &str); 3] = [
    (
        0,
        "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    ),
    (3, "BHD IQD JOD KWD LYD OMR TND"),
    (4, "CLF UYW"),
];

/// The codes without a minor unit: metals, units of account, and codes for tests.
const WITHOUT_MINOR_UNIT: &str = "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX";

/// Returns the maximum number of digits after the decimal point of amounts in a currency. Returns
/// `None` for an unknown code and for one without a minor unit.
#[must_use]
pub fn minor_digits(code: &str) -> Option<u32> {
    let code = currency(code)?;
    let has = |codes: &str| codes.split(' ').any(|known| known == code);
    if has(WITHOUT_MINOR_UNIT) {
        return None;
    }
    let listed = MINOR_DIGITS.iter().find(|(_, codes)| has(codes));
    Some(listed.map_or(2, |(digits, _)| *digits))
}

/// Codes that the European Union uses instead of those of ISO 3166-1.
const EU_COUNTRIES: [(&str, &str); 2] = [("EL", "GR"), ("UK", "GB")];

/// Other codes that are not in the list, each with the code that is probably meant by it.
const SIMILAR_COUNTRIES: &[(&str, &str)] = &[
    ("BU", "MM"),
    ("DD", "DE"),
    ("EN", "GB"),
    ("FX", "FR"),
    ("JA", "JP"),
    ("KO", "KR"),
    ("SP", "ES"),
    ("SU", "RU"),
    ("TP", "TL"),
    ("YU", "RS"),
    ("ZR", "CD"),
];

/// Returns the code of the country in capitals; `code` is case-insensitive.
#[must_use]
pub fn country(code: &str) -> Option<&'static str> {
    let [first, second] = code.as_bytes() else {
        return None;
    };
    let code = [first.to_ascii_uppercase(), second.to_ascii_uppercase()];
    let place = COUNTRIES.binary_search_by(|known| known.as_bytes().cmp(&code));
    COUNTRIES.get(place.ok()?).copied()
}

/// Returns the code that is probably meant by a code that is not in the list of countries.
#[must_use]
pub fn similar_country(code: &str) -> Option<&'static str> {
    eu_country(code).or_else(|| meant(SIMILAR_COUNTRIES, code))
}

/// Returns the code of ISO 3166-1 for a code that the European Union uses instead.
#[must_use]
pub fn eu_country(code: &str) -> Option<&'static str> {
    meant(&EU_COUNTRIES, code)
}

fn meant(codes: &[(&str, &'static str)], code: &str) -> Option<&'static str> {
    let mut known = codes.iter();
    known
        .find(|(other, _)| other.eq_ignore_ascii_case(code))
        .map(|(_, meant)| *meant)
}

/// Returns a code of a region in capitals: the last part of a code of ISO 3166-2, with one to three
/// letters or digits.
#[must_use]
pub fn region(code: &str) -> Option<String> {
    let is_code = (1..=3).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_alphanumeric());
    is_code.then(|| code.to_ascii_uppercase())
}

/// The calling codes, each with the countries of ISO 3166-1 that use it.
const CALLING_CODES: &[(&str, &str)] = &[
    (
        "1",
        "AG AI AS BB BM BS CA DM DO GD GU JM KN KY LC MP MS PR SX TC TT UM US VC VG VI",
    ),
    ("7", "KZ RU"),
    ("20", "EG"),
    ("27", "ZA"),
    ("30", "GR"),
    ("31", "NL"),
    ("32", "BE"),
    ("33", "FR"),
    ("34", "ES"),
    ("36", "HU"),
    ("39", "IT SM VA"),
    ("40", "RO"),
    ("41", "CH"),
    ("43", "AT"),
    ("44", "GB GG IM JE"),
    ("45", "DK"),
    ("46", "SE"),
    ("47", "NO SJ"),
    ("48", "PL"),
    ("49", "DE"),
    ("51", "PE"),
    ("52", "MX"),
    ("53", "CU"),
    ("54", "AR"),
    ("55", "BR"),
    ("56", "CL"),
    ("57", "CO"),
    ("58", "VE"),
    ("60", "MY"),
    ("61", "AU CC CX"),
    ("62", "ID"),
    ("63", "PH"),
    ("64", "NZ PN"),
    ("65", "SG"),
    ("66", "TH"),
    ("81", "JP"),
    ("82", "KR"),
    ("84", "VN"),
    ("86", "CN"),
    ("90", "TR"),
    ("91", "IN"),
    ("92", "PK"),
    ("93", "AF"),
    ("94", "LK"),
    ("95", "MM"),
    ("98", "IR"),
    ("211", "SS"),
    ("212", "EH MA"),
    ("213", "DZ"),
    ("216", "TN"),
    ("218", "LY"),
    ("220", "GM"),
    ("221", "SN"),
    ("222", "MR"),
    ("223", "ML"),
    ("224", "GN"),
    ("225", "CI"),
    ("226", "BF"),
    ("227", "NE"),
    ("228", "TG"),
    ("229", "BJ"),
    ("230", "MU"),
    ("231", "LR"),
    ("232", "SL"),
    ("233", "GH"),
    ("234", "NG"),
    ("235", "TD"),
    ("236", "CF"),
    ("237", "CM"),
    ("238", "CV"),
    ("239", "ST"),
    ("240", "GQ"),
    ("241", "GA"),
    ("242", "CG"),
    ("243", "CD"),
    ("244", "AO"),
    ("245", "GW"),
    ("246", "IO"),
    ("247", "SH"),
    ("248", "SC"),
    ("249", "SD"),
    ("250", "RW"),
    ("251", "ET"),
    ("252", "SO"),
    ("253", "DJ"),
    ("254", "KE"),
    ("255", "TZ"),
    ("256", "UG"),
    ("257", "BI"),
    ("258", "MZ"),
    ("260", "ZM"),
    ("261", "MG"),
    ("262", "RE TF YT"),
    ("263", "ZW"),
    ("264", "NA"),
    ("265", "MW"),
    ("266", "LS"),
    ("267", "BW"),
    ("268", "SZ"),
    ("269", "KM"),
    ("290", "SH"),
    ("291", "ER"),
    ("297", "AW"),
    ("298", "FO"),
    ("299", "GL"),
    ("350", "GI"),
    ("351", "PT"),
    ("352", "LU"),
    ("353", "IE"),
    ("354", "IS"),
    ("355", "AL"),
    ("356", "MT"),
    ("357", "CY"),
    ("358", "AX FI"),
    ("359", "BG"),
    ("370", "LT"),
    ("371", "LV"),
    ("372", "EE"),
    ("373", "MD"),
    ("374", "AM"),
    ("375", "BY"),
    ("376", "AD"),
    ("377", "MC XK"),
    ("378", "SM"),
    ("379", "VA"),
    ("380", "UA"),
    ("381", "RS XK"),
    ("382", "ME"),
    ("383", "XK"),
    ("385", "HR"),
    ("386", "SI XK"),
    ("387", "BA"),
    ("389", "MK"),
    ("420", "CZ"),
    ("421", "SK"),
    ("423", "LI"),
    ("500", "FK GS"),
    ("501", "BZ"),
    ("502", "GT"),
    ("503", "SV"),
    ("504", "HN"),
    ("505", "NI"),
    ("506", "CR"),
    ("507", "PA"),
    ("508", "PM"),
    ("509", "HT"),
    ("590", "BL GP MF"),
    ("591", "BO"),
    ("592", "GY"),
    ("593", "EC"),
    ("594", "GF"),
    ("595", "PY"),
    ("596", "MQ"),
    ("597", "SR"),
    ("598", "UY"),
    ("599", "BQ CW"),
    ("670", "TL"),
    ("672", "AQ NF"),
    ("673", "BN"),
    ("674", "NR"),
    ("675", "PG"),
    ("676", "TO"),
    ("677", "SB"),
    ("678", "VU"),
    ("679", "FJ"),
    ("680", "PW"),
    ("681", "WF"),
    ("682", "CK"),
    ("683", "NU"),
    ("685", "WS"),
    ("686", "KI"),
    ("687", "NC"),
    ("688", "TV"),
    ("689", "PF"),
    ("690", "TK"),
    ("691", "FM"),
    ("692", "MH"),
    ("850", "KP"),
    ("852", "HK"),
    ("853", "MO"),
    ("855", "KH"),
    ("856", "LA"),
    ("880", "BD"),
    ("886", "TW"),
    ("960", "MV"),
    ("961", "LB"),
    ("962", "JO"),
    ("963", "SY"),
    ("964", "IQ"),
    ("965", "KW"),
    ("966", "SA"),
    ("967", "YE"),
    ("968", "OM"),
    ("970", "PS"),
    ("971", "AE"),
    ("972", "IL PS"),
    ("973", "BH"),
    ("974", "QA"),
    ("975", "BT"),
    ("976", "MN"),
    ("977", "NP"),
    ("992", "TJ"),
    ("993", "TM"),
    ("994", "AZ"),
    ("995", "GE"),
    ("996", "KG"),
    ("997", "KZ"),
    ("998", "UZ"),
];

/// Returns the calling codes of a country; empty if they are unknown.
pub fn calling_codes(country: &str) -> impl Iterator<Item = &'static str> {
    // Each country is two letters and a space.
    let is_country = move |known: &[u8]| {
        known
            .get(..2)
            .is_some_and(|known| known.eq_ignore_ascii_case(country.as_bytes()))
    };
    CALLING_CODES
        .iter()
        .filter(move |(_, countries)| countries.as_bytes().chunks(3).any(is_country))
        .map(|(code, _)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RES-donation-03
    #[test]
    fn currencies_have_the_digits_of_iso_4217() {
        let digits = ["JPY", "eur", "DEM", "KWD", "CLF", "XAU", "ABC"].map(minor_digits);
        let expected = [Some(0), Some(2), Some(2), Some(3), Some(4), None, None];
        assert_eq!(digits, expected);
        let exceptions = MINOR_DIGITS.iter().map(|(_, codes)| *codes);
        for code in exceptions
            .chain([WITHOUT_MINOR_UNIT])
            .flat_map(|codes| codes.split(' '))
        {
            assert_eq!(currency(code), Some(code));
        }
    }

    #[test]
    fn countries_are_sorted() {
        assert!(COUNTRIES.is_sorted());
    }

    #[test]
    fn every_code_stands_once() {
        let mut currencies: Vec<&str> = CURRENCIES.split(' ').collect();
        assert!(
            currencies
                .iter()
                .all(|code| code.len() == 3
                    && code.bytes().all(|letter| letter.is_ascii_uppercase()))
        );
        let countries = CALLING_CODES
            .iter()
            .flat_map(|(_, countries)| countries.split(' '));
        assert!(
            countries
                .into_iter()
                .all(|code| code.len() == 2 && code.bytes().all(|it| it.is_ascii_uppercase()))
        );
        let mut codes: Vec<&str> = CALLING_CODES.iter().map(|(code, _)| *code).collect();
        for codes in [&mut currencies, &mut codes] {
            let number = codes.len();
            codes.sort_unstable();
            codes.dedup();
            assert_eq!(codes.len(), number);
        }
    }

    /// No calling code is a prefix of another one, so a number has exactly one country code.
    #[test]
    fn no_calling_code_begins_another() {
        for (code, _) in CALLING_CODES {
            let begun = CALLING_CODES
                .iter()
                .filter(|(other, _)| other.starts_with(code))
                .count();
            assert_eq!(begun, 1, "{code}");
        }
    }
}
